"""Settings are checked, kept whole, and survive rubbish on disk."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.ports import BadDataError
from companion.settings import SETTINGS, Settings


def test_defaults_and_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    settings = Settings(path)
    assert settings.number("keep_pictures_days") == 30
    heard: list[tuple[str, object]] = []
    settings.on_change(lambda name, value: heard.append((name, value)))
    settings.set({"keep_pictures_days": 7, "igloo_deny": ["printer", " modem "]})
    assert heard == [("keep_pictures_days", 7), ("igloo_deny", ("printer", "modem"))]
    again = Settings(path)
    assert again.number("keep_pictures_days") == 7
    assert again.lines("igloo_deny") == ("printer", "modem")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"nothing": 1}, "no setting called"),
        ({"keep_pictures_days": -1}, "number from 0 to 3650"),
        ({"keep_pictures_days": True}, "number from"),
        ({"evidence_each_round": 1}, "yes or no"),
        ({"house_name": "a\nb"}, "one line"),
        ({"host_names": "x"}, "list"),
        ({"host_names": [1]}, "list"),
    ],
)
def test_refused_in_one_sentence_and_nothing_changes(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    settings = Settings(tmp_path / "settings.json")
    before = settings.all()
    with pytest.raises(BadDataError, match=says):
        settings.set({"house_name": "new", **changes})
    assert settings.all() == before
    assert not (tmp_path / "settings.json").exists()


@pytest.mark.parametrize("rubbish", ["", "[]", "{", "\x00", "[" * 100_000])
def test_an_unreadable_file_is_moved_aside(tmp_path: Path, rubbish: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(rubbish, encoding="utf-8")
    settings = Settings(path)
    assert "moved aside" in settings.note
    assert len(list(tmp_path.glob("settings.json.unreadable-*"))) == 1
    assert settings.all() == Settings(None).all()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=4)
)


@given(st.dictionaries(st.sampled_from([s.name for s in SETTINGS]), JSON))
def test_whatever_is_sent_is_kept_whole_or_refused(changes: dict[str, object]) -> None:
    settings = Settings(None)
    before = settings.all()
    try:
        settings.set(changes)
    except BadDataError as error:
        assert "\n" not in str(error)
        assert settings.all() == before
    else:
        json.dumps(settings.all())
