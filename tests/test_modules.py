"""No module is longer than what one reads at a sitting."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 500
"""Lines of a module."""


def test_no_module_is_longer_than_500_lines() -> None:
    lines = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for package in ("companion", "vision", "web")
        for path in (ROOT / package).rglob("*.py")
    }
    assert len(lines) > 100
    assert {name: count for name, count in lines.items() if count > MOST} == {}
