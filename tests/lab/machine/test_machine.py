"""What of the emulated machine computes without one: what is read of the unit and of install.sh, results, commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.lab.machine import image
from companion.lab.machine.checks import ALLOWED, HELD, REFUSED, TRIES, options, quoted, tried, wrong
from companion.lab.machine.cuts import CUTS
from companion.lab.machine.emulator import Disks, qemu_command
from companion.lab.machine.image import BuildError, clear, mounted_below, packages_of
from companion.lab.machine.results import Results, words
from companion.lab.machine.steps import STEPS
from companion.lab.worlds.evening import evening
from companion.rules import games

DENIED = "Permission denied"
ROOT = Path(__file__).resolve().parents[3]


def test_the_packages_are_those_that_the_installer_must_have() -> None:
    assert packages_of((ROOT / "install.sh").read_text(encoding="utf-8"))[:2] == ["python3", "python3-venv"]
    with pytest.raises(BuildError):
        packages_of("apt-get install everything")


def test_what_a_killed_build_left_mounted_is_found_the_innermost_first() -> None:
    line = "46 27 0:27 / {} rw,relatime shared:1 - tmpfs tmpfs rw"
    places = ("/", "/proc", "/c/root", "/c/root/dev", "/c/root/dev/shm", "/c/root/a\\040bc", "/c/rooted/proc")
    mounts = "\n".join(line.format(place) for place in places)
    assert mounted_below(Path("/c/root"), mounts) == ["/c/root/dev/shm", "/c/root/a bc", "/c/root/dev", "/c/root"]
    assert mounted_below(Path("/c/other"), mounts) == []


@pytest.mark.process
def test_nothing_is_taken_away_where_something_stays_mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "root" / "etc").mkdir(parents=True)
    (tmp_path / "root" / "etc" / "kept").touch()
    with monkeypatch.context() as patched:
        patched.setattr(image, "mounted_below", lambda folder, mounts: [str(folder / "no mount")])
        with pytest.raises(BuildError, match="umount"):
            clear(tmp_path / "root")
    assert (tmp_path / "root" / "etc" / "kept").exists()
    clear(tmp_path / "root")
    clear(tmp_path / "root")
    assert not (tmp_path / "root").exists()


def test_every_restriction_of_the_unit_is_given_to_the_tries() -> None:
    unit = (ROOT / "companion" / "install" / "companion.service").read_text(encoding="utf-8")
    given = options(unit)
    assert "NoNewPrivileges=yes" in given and "IPAddressDeny=any" in given and "User=companion" in given
    after = unit[unit.index("User=") : unit.index("[Install]")]
    lines = [line for line in after.splitlines() if line and not line.startswith("#")]
    lists = [line for line in lines if line.startswith("IPAddress")]
    assert [one for one in lines if one not in given and one not in lists] == []
    told = [f"{line.split('=')[0]}={word}" for line in lists for word in line.split("=")[1].split()]
    assert [one for one in given if one.startswith("IPAddress")] == told and "IPAddressAllow=localhost" in told
    assert quoted(["it's", "$HOME"]) == "'it'\\''s' '$HOME'"


def test_a_try_that_ends_otherwise_or_not_at_all_is_wrong() -> None:
    said = "".join(
        f"{number} {one.wanted}{f' {one.why or DENIED}' if one.wanted == HELD else ''}\n"
        for number, one in enumerate(TRIES)
    )
    assert wrong(tried(said)) == []
    assert tried(said)["write in /etc"] == "held back (Permission denied)"
    assert {one.wanted for one in TRIES} == {ALLOWED, HELD}
    assert wrong(tried(said.replace("\n3 held back", "\n3 allowed"))) == [TRIES[3].what]
    assert wrong(tried(said.split("\n", 1)[1])) == [TRIES[0].what]
    assert wrong(tried(said.replace(REFUSED, "Network is unreachable"))) == ["send to a public address"]


def test_finished_steps_are_known_again_for_the_same_product_only(tmp_path: Path) -> None:
    place = tmp_path / "results.json"
    results = Results(place, "a", "one")
    results.kept["journal"] = "digest"
    results.add("boot", {"seconds": 100})
    again = Results(place, "a", "two")
    assert again.done("boot") and not again.done("install") and again.kept == {"journal": "digest"}
    again.forget({"boot"})
    assert not again.done("boot")
    assert not Results(place, "b", "two").done("boot")


def test_figures_are_told_in_a_line() -> None:
    told = {"seconds": 3, "tries": {"write in /etc": "held back"}, "wrong": []}
    assert words(told) == "seconds 3; write in /etc: held back"


def test_the_machine_is_cut_off_but_for_its_page(tmp_path: Path) -> None:
    disks = Disks(*(tmp_path / name for name in ("kernel", "initrd", "root", "carried")))
    command = qemu_command(disks, tmp_path, 512, 4711)
    assert "user,id=house,restrict=on,hostfwd=tcp:127.0.0.1:4711-:8080" in command
    assert command[command.index("-m") + 1] == "512"
    assert "-rtc" not in command
    late = qemu_command(disks, tmp_path, 512, 4711, "2026-10-01T12:00:00")
    assert late[late.index("-rtc") + 1] == "base=2026-10-01T12:00:00"


def test_an_evening_has_each_game_and_each_step_is_told() -> None:
    commands = [one for _, told in evening(3) for one in told]
    assert {body["game"] for command, body in commands if command == "open-match"} == set(games())
    every = (*STEPS, *CUTS)
    assert len({name for name, _ in every}) == len(every)
    assert all(step.__doc__ for _, step in every)
