"""The wheel, installed into an environment of its own and called from elsewhere: all that a table needs is in it."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from companion.cli.lab import NO_LAB
from tests.worlds.served import Served

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PACKAGES = ("companion", "vision", "web")
PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]


@dataclass(frozen=True)
class Installed:
    """A companion from a wheel: its environment's folder, and one elsewhere from which it is called."""

    wheel: Path
    environment: Path
    folder: Path

    @property
    def program(self) -> str:
        return str(self.environment / "bin" / "companion")

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index"]

    def run(*command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr

    run(*pip, "wheel", *offline, "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    environment = folder / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    # What the companion needs is there already. A .pth file in a folder that such a file names is not read, so that
    # this checkout, which may be installed there for development, is not.
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "of-the-tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    run(*pip, "--python", str(environment / "bin" / "python"), "install", *offline, str(wheel))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)
        yield Installed(wheel, environment, elsewhere)


def test_the_wheel_holds_the_packages_and_their_data_but_no_lab(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        inside = {name for name in archive.namelist() if name.split("/")[0] in PACKAGES}
    tracked = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PACKAGES],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split("\0")
    product = {name for name in tracked if name and not name.startswith("companion/lab/") and (ROOT / name).exists()}
    assert len(product) > 500
    assert inside == product


def test_it_is_the_installed_one_that_answers(installed: Installed) -> None:
    done = subprocess.run(
        [str(installed.environment / "bin" / "python"), "-c", "import companion, web; print(companion.__path__[0])"],
        cwd=installed.folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert Path(done.stdout.strip()).is_relative_to(installed.environment)
    told = installed("--help")
    assert (told.returncode, told.stderr) == (0, "")
    assert "bench" in told.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("bench", "rules"),
        ("shake", "simulate", "x.npz"),
        ("shake", "simulate", "--bank", "bank"),
        ("shake", "train"),
    ],
    ids=" ".join,
)
def test_what_needs_the_lab_says_so_in_a_sentence(installed: Installed, arguments: tuple[str, ...]) -> None:
    done = installed(*arguments)
    assert done.returncode == 2
    assert done.stderr == f"companion: {NO_LAB}\n"


def test_a_game_is_drawn_judged_and_scored(installed: Installed) -> None:
    for game in ("igloo-pop", "iglu-iglu", "arctic", "ice-team"):
        drawn = installed("playout", game, "--players", "2", "--seed", "1")
        assert (drawn.returncode, drawn.stderr) == (0, "")
        record = installed.folder / f"{game}.jsonl"
        record.write_text(drawn.stdout, encoding="utf-8")
        judged = installed("referee", record.name, "--json")
        assert (judged.returncode, judged.stderr) == (0, "")
        rulings = [json.loads(line) for line in judged.stdout.splitlines()]
        assert all(ruling["legal"] for ruling in rulings[:-1])
        scored = installed("score", record.name, "--json")
        assert (scored.returncode, scored.stderr) == (0, "")
        assert json.loads(scored.stdout)["ranking"]


def test_it_speaks_every_language_that_is_in_it(installed: Installed) -> None:
    told = installed("rule", "ARC-S.1", "--lang", "fr")
    assert (told.returncode, told.stderr) == (0, "") and "carte" in told.stdout.casefold()
    record = installed.folder / "wrong.jsonl"
    record.write_text('{"game": "arctic", "players": [{"name": "Ann"}, {"name": "Bob"}]}\n"xyzzy"\n', encoding="utf-8")
    judged = json.loads(installed("referee", record.name, "--json").stdout.splitlines()[0])
    assert judged["en"] != judged["fr"] and "n’est pas" in judged["fr"], judged


def test_it_prints_knows_its_images_and_looks_about(installed: Installed) -> None:
    assert installed("vision", "look", "--help").returncode == 0
    assert installed("kit", "--out", "kit.pdf").returncode == 0
    assert (installed.folder / "kit.pdf").read_bytes().startswith(b"%PDF")
    # It says, too, that none was built here.
    assert installed("firmware", "list").stdout.count("(in the package)") == 3
    looked = installed("doctor", "--data", "nights", "--json")
    assert looked.returncode in {0, 1}, looked.stderr
    assert looked.stderr == ""
    assert all(json.loads(line) for line in looked.stdout.splitlines())


def test_it_serves_a_game(installed: Installed) -> None:
    data = installed.folder / "data"
    served = Served(data, "--simulate", program=(installed.program,), folder=installed.folder)
    try:
        status, page = served.host.ask("GET", "/")
        assert status == 200
        assert b'<html lang="en"' in page
        body = {"game": "igloo-pop", "players": PLAYERS, "draw": True}
        answer = served.do("open-match", body)
        assert answer["ok"], answer
        assert served.get("/api/state")["view"]["match"]["cards"]
    finally:
        served.close()
