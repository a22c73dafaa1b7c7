"""The nights: folder, settings, databases, backups. Everything is read, nothing is changed."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from companion.access.store import SCHEMA as ACCESS_SCHEMA
from companion.doctor.finding import Finding, FindingState, found
from companion.doctor.host import Host
from companion.night.backup.archive import BACKUPS, FORMER, STAGE
from companion.night.backup.encryption import SUFFIX, kept_passphrase, locked
from companion.night.backup.messages import BackupError
from companion.night.backup.restore import look_into
from companion.night.backup.scheduler import STICK_FOLDER, backups, sticks
from companion.night.log.data_folder import ACCESS, JOURNAL, read_small
from companion.night.log.database import StorageError, open_database
from companion.night.log.journal import LOST, Journal
from companion.night.messages import SENTENCES, Words
from companion.night.views.damage import damage_report
from companion.ports import BadDataError
from companion.settings import SETTINGS, Settings, Value

SETTINGS_FILE = "settings.json"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the other checks need of the data folder: the settings as they are in force, the journal's newest entry."""

    values: dict[str, Value]
    last_at_ms: int

    def text(self, name: str) -> str:
        """Return a text setting."""
        return str(self.values[name])

    def lines(self, name: str) -> tuple[str, ...]:
        """Return a list setting."""
        value = self.values[name]
        return value if isinstance(value, tuple) else ()


def settings(folder: Path) -> tuple[list[Finding], dict[str, Value]]:
    """Check the settings' file and return what is in force."""
    values: dict[str, Value] = {setting.name: Settings(None)[setting.name] for setting in SETTINGS}
    path = folder / SETTINGS_FILE
    if not path.exists():
        return [], values
    try:
        raw = json.loads(read_small(path))
        if not isinstance(raw, dict):
            raise ValueError("not an object")
    except (OSError, ValueError, RecursionError):
        return [found("settings", FindingState.WRONG, "settings-unreadable", cure="settings")], values
    findings = []
    for setting in SETTINGS:
        if setting.name in raw:
            try:
                values[setting.name] = setting.checked(raw[setting.name])
            except BadDataError as error:
                findings.append(found("settings", FindingState.WRONG, "setting-bad", cure="settings", why=str(error)))
    return findings or [found("settings", FindingState.GOOD, "settings-good")], values


def nights(host: Host, folder: Path) -> tuple[list[Finding], Kept]:
    """Check a data folder and return, beside the findings, what the other checks need of it."""
    findings, values = settings(folder)
    if not folder.is_dir():
        return [found("data", FindingState.NOTE, "no-data", folder=str(folder))], Kept(values, 0)
    mode = folder.stat()
    if not host.user.may(folder, 0o7):
        findings.append(
            found("data", FindingState.WRONG, "data-forbidden", cure="owner", folder=str(folder), user=host.user.name)
        )
    elif stat.S_IMODE(mode.st_mode) & 0o077:
        findings.append(found("data", FindingState.WARNING, "data-open", cure="private", folder=str(folder)))
    if (folder / STAGE).is_dir():
        findings.append(found("data", FindingState.NOTE, "restore-open"))
    for path in sorted(folder.glob("*.damaged-*")) + sorted(folder.glob("*.unreadable-*")):
        findings.append(found("data", FindingState.NOTE, "aside", file=path.name))
    for path in sorted(folder.glob(f"{FORMER}*")):
        findings.append(found("data", FindingState.NOTE, "former", file=path.name))
    more, entries, last_at_ms = _databases(folder)
    return [*findings, *more, *_backups(folder, entries)], Kept(values, last_at_ms)


def _databases(folder: Path) -> tuple[list[Finding], int, int]:
    findings, entries, last_at_ms = [], 0, 0
    try:
        if (folder / JOURNAL).exists() or (folder / f"{JOURNAL}-wal").exists():
            journal = Journal(folder / JOURNAL, read_only=True)
            try:
                entries = journal.last_seq
                newest = journal.since(entries - 1)
                last_at_ms = newest[-1].at if newest else 0
                damage = damage_report(journal, folder)
                lost = journal.last_of(LOST)
            finally:
                journal.close()
            for one in damage:
                why = Words.from_json(one)
                cure = "damage" if one["backup"] else "damage-enter"
                file = str(folder / BACKUPS / str(one["backup"]))
                findings.append(found("journal", FindingState.WRONG, "damage", cure=cure, why=why, file=file))
            if not damage:
                findings.append(found("journal", FindingState.GOOD, "journal-good", entries=entries))
            if lost:
                findings.append(found("journal", FindingState.NOTE, "lost-once", seq=lost))
        else:
            findings.append(found("journal", FindingState.NOTE, "journal-none"))
    except StorageError as error:
        findings.append(_bad(JOURNAL, error, "restore"))
    try:
        if (folder / ACCESS).exists():
            open_database(folder / ACCESS, ACCESS_SCHEMA, read_only=True).close()
    except StorageError as error:
        findings.append(_bad(ACCESS, error, "access"))
    return findings, entries, last_at_ms


def _bad(file: str, error: StorageError, cure: str) -> Finding:
    why = SENTENCES[error.key].filled(error.facts)
    return found("journal", FindingState.WRONG, "database-bad", cure=cure, file=file, why=why)


def _backups(folder: Path, entries: int) -> Iterator[Finding]:
    made, passphrase = backups(folder / BACKUPS), kept_passphrase(folder)
    if passphrase or any(path.name.endswith(SUFFIX) for path in made):
        yield found("backup", FindingState.NOTE, "backup-encrypted" if passphrase else "backup-was-encrypted")
    if made and locked(made[-1], passphrase):
        yield found("backup", FindingState.WARNING, "backup-locked", cure="passphrase", file=made[-1].name)
    elif made:
        try:
            seq = look_into(made[-1], passphrase)[0].seq
            yield found("backup", FindingState.GOOD, "backup-good", file=made[-1].name, seq=seq, entries=entries)
        except (BackupError, OSError):
            yield found("backup", FindingState.WRONG, "backup-bad", cure="backup", file=made[-1].name)
    elif entries:
        yield found("backup", FindingState.WARNING, "backup-none", cure="backup")
    for stick in sticks():
        if (stick / STICK_FOLDER).is_dir():
            yield found("backup", FindingState.GOOD, "stick", path=str(stick))
        else:
            yield found("backup", FindingState.NOTE, "stick-not-chosen", cure="stick", path=str(stick))
