"""Backups and restoring: whole or not at all, checked, also while somebody writes and when the power fails."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from companion.access.store import Access
from companion.night.backup.archive import MANIFEST, Manifest, back_up, examine, held, kept, read_manifest, write_backup
from companion.night.backup.messages import SENTENCES, BackupError
from companion.night.backup.restore import restore, settle
from companion.night.backup.scheduler import back_up_into, backups, next_name
from companion.night.log.data_folder import ACCESS
from companion.night.log.journal import Journal
from companion.night.log.pictures import EvidenceStore
from tests.worlds.wait import wait

Table = Any


@pytest.fixture
def data(new_table: Callable[..., Table], tmp_path: Path) -> Path:
    """A data folder after an evening: journal, pictures, settings, a profile, secrets, and what is of the moment."""
    (tmp_path / "data").mkdir()
    table = new_table("data/journal.sqlite")
    table.shaking()
    table.close()
    folder = tmp_path / "data"
    store = EvidenceStore(folder / "evidence")
    for n in range(3):
        store.keep(bytes([n]) * 5000, ".jpg")
    (folder / "settings.json").write_text('{\n  "house_name": "Chez nous"\n}')
    (folder / "profiles" / "table").mkdir(parents=True)
    (folder / "profiles" / "table" / "profile.json").write_text("{}")
    Access(folder / ACCESS).close()
    (folder / "address.json").write_text("{}")
    (folder / "evidence" / ".half.new").write_bytes(b"x")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return what a person would miss: every kept file, the journal as its entries."""
    found = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and all(kept(part) for part in parts):
            found["/".join(parts)] = path.read_bytes()
    journal = Journal(folder / "journal.sqlite", read_only=True)
    found["journal.sqlite"] = repr(journal.since(0)).encode()
    journal.close()
    return found


def test_a_backup_holds_the_nights_and_no_secret(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "one.zip"
    manifest = back_up(data, target)
    names = {part.name for part in manifest.parts}
    assert {"journal.sqlite", "settings.json", "profiles/table/profile.json"} < names
    assert manifest.picture_count == 3 and len(names) == 6
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert examine(target) == manifest
    with zipfile.ZipFile(target) as archive:
        assert set(archive.namelist()) == names | {MANIFEST}
        assert archive.testzip() is None
    access = Access(data / ACCESS)
    pin = access.pin.encode()
    access.close()
    with zipfile.ZipFile(target) as archive:
        assert not any(pin in archive.read(name) for name in archive.namelist() if name != MANIFEST)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data", "one.zip"]


def test_without_pictures(data: Path, tmp_path: Path) -> None:
    manifest = back_up(data, tmp_path / "small.zip", pictures=False)
    assert (manifest.pictures, manifest.picture_count) == (False, 0)


def test_it_is_consistent_while_somebody_writes(data: Path, tmp_path: Path, new_table: Callable[..., Table]) -> None:
    table = new_table("data2.sqlite")
    folder = tmp_path / "busy"
    folder.mkdir()
    table.close()
    journal = Journal(folder / "journal.sqlite")
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            journal.append("note", {"n": n, "text": "x" * 300})

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = []
        for n in range(5):
            made.append(back_up(folder, tmp_path / f"{n}.zip"))
            wait(lambda: journal.last_seq > made[-1].seq)
    finally:
        stop.set()
        writer.join()
        journal.close()
    assert made[0].seq < made[-1].seq
    for n, manifest in enumerate(made):
        place = tmp_path / f"out{n}"
        restore(tmp_path / f"{n}.zip", place)
        with contextlib.closing(Journal(place / "journal.sqlite")) as back:
            assert back.last_seq == manifest.seq
            assert [e.seq for e in back.since(0)] == list(range(1, manifest.seq + 1))


def test_nothing_is_written_over(data: Path, tmp_path: Path) -> None:
    (tmp_path / "one.zip").write_text("mine")
    with pytest.raises(BackupError, match="exists already"):
        back_up(data, tmp_path / "one.zip")
    assert (tmp_path / "one.zip").read_text() == "mine"


def test_there_must_be_nights(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="no data folder"):
        back_up(tmp_path / "nowhere", tmp_path / "x.zip")
    with pytest.raises(BackupError, match="no nights"):
        back_up(tmp_path, tmp_path / "x.zip")


LIMITED = """
import resource, signal, sys
from pathlib import Path
from companion.night.backup.archive import back_up
from companion.night.log.journal import Journal
from companion.night.backup.messages import BackupError
reader = Journal(Path(sys.argv[1]) / "journal.sqlite", read_only=True)  # as beside a service: the index is there
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    back_up(Path(sys.argv[1]), Path(sys.argv[2]))
except BackupError as error:
    print(error.key)
"""


@pytest.mark.process
@pytest.mark.parametrize("size", [100, 4_000, 15_000])
def test_where_there_is_no_room_nothing_is_left(data: Path, tmp_path: Path, size: int) -> None:
    """The kernel refuses to write on, as a full stick does (a file-size limit stands in for the stick's end)."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    place = tmp_path / "stick"
    place.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(data), str(place / "b.zip"), str(size)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("cannot-write\n", "", 0)
    assert list(place.iterdir()) == []


@pytest.mark.process
def test_killed_while_it_writes_no_half_backup_has_the_name(data: Path, tmp_path: Path) -> None:
    for n in range(100):
        EvidenceStore(data / "evidence").keep(os.urandom(20_000) + bytes([n % 256]), ".jpg")
    place = tmp_path / "place"
    place.mkdir()
    code = (
        "import sys; from pathlib import Path; from companion.night.backup.archive import back_up; "
        "print('go', flush=True); "
        "back_up(Path(sys.argv[1]), Path(sys.argv[2]))"
    )

    def written() -> int:
        """How much of a backup there is, whether it has its name already or not."""
        with contextlib.suppress(FileNotFoundError):  # what was a draft a moment ago
            return sum(path.stat().st_size for path in place.iterdir() if path.suffix in {".part", ".zip"})
        return 0

    for n in range(4):
        before = written()
        with subprocess.Popen(
            [sys.executable, "-c", code, str(data), str(place / f"{n}.zip")], stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None and child.stdout.readline() == b"go\n"
            # At once, as soon as anything was written, after a third of the pictures, after two thirds.
            enough = before + (0, 1, 700_000, 1_400_000)[n]
            wait(lambda child=child, enough=enough: written() >= enough or child.poll() is not None)
            child.send_signal(signal.SIGKILL)
        for made in place.glob("*.zip"):
            examine(made)
    back_up_into(data, place, keep=9, pictures=True)
    assert not list(place.glob(".*"))


@pytest.mark.process
@pytest.mark.parametrize("end", ["", ".db.part", ".db.part-journal", ".db.part-wal", ".db.part-shm"])
def test_what_a_backup_left_that_was_cut_off_goes_with_the_next(data: Path, tmp_path: Path, end: str) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left = tmp_path / f".one.zip-{gone.pid}-0123abcd.part{end}"
    ours = tmp_path / f".two.zip-{os.getpid()}-0123abcd.part{end}"
    for draft in (left, ours):
        draft.write_bytes(b"half")
    back_up_into(data, tmp_path, keep=9, pictures=False)
    assert not left.exists()
    assert ours.exists(), "a backup that is being made"


# --- restoring ---------------------------------------------------------------------------------------------------


def test_two_at_once_are_both_kept_each_under_a_number_of_its_own(data: Path, tmp_path: Path) -> None:
    """The installer saves the nights while the service makes its daily backup."""
    place, others = tmp_path / "kept", []

    def fill(file: BinaryIO) -> Manifest:
        if not others:
            others.append(back_up_into(data, place, keep=None, pictures=False))
        return write_backup(file, data, tmp_path / "copy.db.part", pictures=False)

    path, manifest = back_up_into(data, place, keep=None, pictures=False, fill=fill)
    ((other, its),) = others
    assert (
        [one.name[:15] for one in backups(place)]
        == ["companion-0001-", "companion-0002-"]
        == [
            other.name[:15],
            path.name[:15],
        ]
    )
    assert (examine(other).seq, examine(path).seq) == (its.seq, manifest.seq)


def test_a_name_that_is_no_backup_of_ours_is_not_asked_for_for_ever(data: Path, tmp_path: Path) -> None:
    place = tmp_path / "kept"
    place.mkdir()
    (place / next_name(place)).symlink_to(data)
    with pytest.raises(BackupError, match="exists already"):
        back_up_into(data, place, keep=None, pictures=False)


def test_restored_as_it_was_and_the_former_state_is_kept(
    data: Path, tmp_path: Path, new_table: Callable[..., Table]
) -> None:
    before = contents(data)
    picture = next((data / "evidence").glob("*.jpg"))
    os.utime(picture, (1_600_000_000, 1_600_000_000))
    back_up(data, tmp_path / "one.zip")
    secrets = (data / ACCESS).read_bytes()

    journal = data / "journal.sqlite"
    journal.write_bytes(b"rubbish" * 1000)
    (data / "settings.json").unlink()
    (data / "profiles" / "table" / "more.json").write_text("{}")
    manifest, former = restore(tmp_path / "one.zip", data)
    assert contents(data) == before
    assert manifest.picture_count == 3
    assert picture.stat().st_mtime == 1_600_000_000
    assert (data / ACCESS).read_bytes() == secrets
    assert former.parent == data
    assert (former / "journal.sqlite").read_bytes() == b"rubbish" * 1000
    assert (former / "profiles" / "table" / "more.json").exists()
    assert not (data / ".restoring").exists()
    # A second one in the same second has a folder of its own, and a backup never holds former states.
    _, second = restore(tmp_path / "one.zip", data)
    assert second != former
    assert back_up(data, tmp_path / "two.zip").parts[0].name == "journal.sqlite"
    assert not any(part.name.startswith("before") for part in examine(tmp_path / "two.zip").parts)


def test_a_write_ahead_log_of_the_former_state_does_not_reach_the_new_one(data: Path, tmp_path: Path) -> None:
    back_up(data, tmp_path / "one.zip")
    with contextlib.closing(Journal(data / "copy.sqlite")) as journal:
        journal.append("later", {})
        for part in ("", "-wal"):
            shutil.copyfile(data / f"copy.sqlite{part}", data / f"journal.sqlite{part}")
    for part in data.glob("copy.sqlite*"):
        part.unlink()
    (data / "journal.sqlite-journal").write_bytes(b"")
    _, former = restore(tmp_path / "one.zip", data)
    assert not (data / "journal.sqlite-journal").exists(), "it would be applied to the nights brought back"
    with contextlib.closing(Journal(data / "journal.sqlite", read_only=True)) as journal:
        assert journal.last_of("later") == 0
    with contextlib.closing(Journal(former / "journal.sqlite", read_only=True)) as journal:
        assert journal.last_of("later") == 1


def test_pictures_stay_where_the_backup_has_none(data: Path, tmp_path: Path) -> None:
    back_up(data, tmp_path / "small.zip", pictures=False)
    _, former = restore(tmp_path / "small.zip", data)
    assert len(list((data / "evidence").glob("*.jpg"))) == 3
    assert not (former / "evidence").exists()


def test_into_a_new_folder(data: Path, tmp_path: Path) -> None:
    back_up(data, tmp_path / "one.zip")
    restore(tmp_path / "one.zip", tmp_path / "new" / "place")
    assert contents(tmp_path / "new" / "place") == contents(data)


def test_not_while_a_service_runs(data: Path, tmp_path: Path) -> None:
    back_up(data, tmp_path / "one.zip")
    before = contents(data)
    with held(data), pytest.raises(BackupError, match="is running"):
        restore(tmp_path / "one.zip", data)
    assert contents(data) == before


class PowerCutError(BaseException):
    """Nothing of ours catches it."""


@pytest.fixture
def cut_after(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Let the power fail before the n-th rename."""
    replace = Path.replace

    def cut(n: int) -> None:
        left = [n]

        def dying(self: Path, target: Path) -> Path:
            left[0] -= 1
            if left[0] < 0:
                raise PowerCutError
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", dying)

    yield cut


def test_a_power_cut_leaves_the_old_nights_or_the_new(
    data: Path, tmp_path: Path, cut_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(data, tmp_path / "one.zip")
    new = contents(data)
    with contextlib.closing(Journal(tmp_path / "other.sqlite")) as journal:
        journal.append("other", {})
    shutil.rmtree(data / "profiles")
    for left in data.glob("journal.sqlite-*"):
        left.unlink()
    shutil.copyfile(tmp_path / "other.sqlite", data / "journal.sqlite")
    with contextlib.closing(Journal(tmp_path / "other.sqlite", read_only=True)):
        pass
    old = contents(data)
    shutil.copytree(data, tmp_path / "kept")
    seen = set()
    for n in range(60):
        shutil.rmtree(data)
        shutil.copytree(tmp_path / "kept", data)
        cut_after(n)
        try:
            restore(tmp_path / "one.zip", data)
            done = True
        except PowerCutError:
            done = False
        monkeypatch.undo()
        settle(data)
        assert not (data / ".restoring").exists()
        now = contents(data)
        assert now in (old, new), n
        seen.add(now == new)
        if now == new:
            (former,) = data.glob("before-restore-*")
            assert contents(former) == old
        if done:
            break
    assert done and seen == {True, False}


def test_a_cut_off_settling_is_settled_again(
    data: Path, tmp_path: Path, cut_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(data, tmp_path / "one.zip")
    new = contents(data)
    cut_after(3)
    with pytest.raises(PowerCutError):
        restore(tmp_path / "one.zip", data)
    monkeypatch.undo()
    for _ in range(12):
        cut_after(1)
        with contextlib.suppress(PowerCutError):
            settle(data)
        monkeypatch.undo()
    assert not settle(data)
    assert contents(data) == new


# --- damage ------------------------------------------------------------------------------------------------------


def test_a_damaged_backup_restores_nothing(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.zip"
    back_up(data, path)
    whole = path.read_bytes()
    before = contents(data)
    rng = random.Random(7)
    refused = 0
    for n in range(150):
        damaged = bytearray(whole)
        if n % 3 == 0:
            del damaged[rng.randrange(len(whole)) :]
        else:
            for _ in range(1 if n % 3 == 1 else 40):
                damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            # A flipped bit may lie where nothing is read (a date): then all files are still what they were.
            assert [p.sha256 for p in examine(path).parts]
        except BackupError as error:
            refused += 1
            assert "\n" not in str(error)
            with pytest.raises(BackupError):
                restore(path, data)
    assert refused > 120
    assert contents(data) == before
    assert not list(data.glob("before-*"))


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/passwd",
        "a/../../b",
        "access.sqlite",
        "lock",
        ".restoring/x",
        "a\\b",
        "",
        "x/./y",
        "backups/x",
    ],
)
def test_no_file_lands_where_it_must_not(data: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "evil.zip"
    back_up(data, path)
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        files = {info.filename: archive.read(info) for info in archive.infolist() if info.filename != MANIFEST}
    entry = next(f for f in manifest["files"] if f["name"] == "settings.json")
    files[name or "x"] = files.pop("settings.json")
    entry["name"] = name
    with zipfile.ZipFile(path, "w") as archive:
        for inside, content in files.items():
            archive.writestr(inside, content)
        archive.writestr(MANIFEST, json.dumps(manifest))
    with pytest.raises(BackupError):
        restore(path, tmp_path / "fresh")
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "fresh").exists()


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"format": 2}, "newer"),
        ({"format": "x"}, "not-ours"),
        ({"files": []}, "broken"),
        ({"files": 5}, "not-ours"),
        ({"made": None}, "not-ours"),
    ],
)
def test_manifests_that_are_none(data: Path, tmp_path: Path, change: dict[str, Any], key: str) -> None:
    path = tmp_path / "one.zip"
    back_up(data, path)
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        files = {info.filename: archive.read(info) for info in archive.infolist() if info.filename != MANIFEST}
    with zipfile.ZipFile(path, "w") as archive:
        for inside, content in files.items():
            archive.writestr(inside, content)
        archive.writestr(MANIFEST, json.dumps(manifest | change))
    with pytest.raises(BackupError) as refusal:
        examine(path)
    assert refusal.value.key == key


@pytest.mark.parametrize("rubbish", [b"", b"PK", b"rubbish" * 100])
def test_other_files_are_no_backup(tmp_path: Path, rubbish: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(rubbish)
    with pytest.raises(BackupError, match="not a companion’s backup"):
        examine(tmp_path / "x.zip")
    with pytest.raises(BackupError, match="cannot be read"):
        examine(tmp_path / "missing.zip")


def test_a_clock_in_1970_makes_a_backup(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("companion.night.backup.archive.time.gmtime", lambda: (1970, 1, 1, 0, 0, 7))
    back_up(data, tmp_path / "old.zip")
    assert examine(tmp_path / "old.zip").seq > 0


@pytest.mark.parametrize("key", sorted(SENTENCES))
def test_sentences_are_in_both_languages(key: str) -> None:
    words = SENTENCES[key]
    assert words.en != words.fr
    assert words.en.count("{") == words.fr.count("{")


# --- a table of contents that is a bomb --------------------------------------------------------------------------


def peak_mb(work: Callable[[], object]) -> float:
    """Return the most memory that Python held for ``work``, beyond what it held before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def refused(path: Path) -> str:
    with pytest.raises(BackupError) as error:
        read_manifest(path)
    with pytest.raises(BackupError) as as_whole:
        examine(path)
    assert error.value.key == as_whole.value.key
    return error.value.key


@pytest.mark.parametrize(
    "filling",
    [
        b"[]," * 20_000_000 + b"[]",
        b'{"name":"a","size":0,"sha256":"","changed":0},' * 1_000_000 + b"{}",
        b"[" * 50_000_000,
    ],
    ids=["empty lists", "files that are not there", "deep"],
)
def test_a_manifest_beyond_what_the_archive_holds_takes_no_memory(tmp_path: Path, filling: bytes) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, b'{"format":1,"files":[' + filling + b"]}")
        archive.writestr("settings.json", b"{}")
    assert bomb.stat().st_size < 300_000
    assert peak_mb(lambda: refused(bomb)) < 5
    assert refused(bomb) == "not-ours"


def contents_of(size: int, *, zip64: bool) -> bytes:
    """Return the end of an archive whose table of contents, all zeros, has so many bytes."""
    end = b""
    if zip64:
        end += struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, 0)
        end += struct.pack("<4sIQI", b"PK\6\7", 0, size, 1)
    return end + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 0 if zip64 else size, 0, 0)


@pytest.mark.parametrize("zip64", [False, True])
def test_a_table_of_contents_without_end_is_refused_before_it_is_read(tmp_path: Path, zip64: bool) -> None:
    bomb = tmp_path / "bomb.zip"
    with bomb.open("wb") as file:
        file.truncate(60_000_000)
        file.seek(60_000_000)
        file.write(contents_of(60_000_000, zip64=zip64))
    assert peak_mb(lambda: refused(bomb)) < 5
    assert refused(bomb) == "not-ours"


@pytest.mark.parametrize("cut", [0, 10, 21])
def test_an_archive_without_its_end_is_none(tmp_path: Path, cut: int) -> None:
    (tmp_path / "none.zip").write_bytes(contents_of(0, zip64=False)[:cut])
    assert refused(tmp_path / "none.zip") == "not-ours"


def test_a_large_archive_says_its_length_elsewhere_and_is_read(data: Path, tmp_path: Path) -> None:
    """As one of gigabytes ends, which no test writes: with both ends, of which the old one says nothing."""
    small = tmp_path / "small.zip"
    manifest = back_up(data, small)
    whole = small.read_bytes()
    end = whole.rindex(b"PK\5\6")
    entries, size, offset = struct.unpack_from("<HII", whole, end + 10)
    large = tmp_path / "large.zip"
    large.write_bytes(
        whole[:end]
        + struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, entries, entries, size, offset)
        + struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
        + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    )
    assert read_manifest(large) == examine(large) == manifest
