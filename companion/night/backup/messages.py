"""The sentences and the error of keeping nights safe: backups, restoring, the stick, the clock."""

from __future__ import annotations

from typing import Final

from companion.night.messages import Words
from companion.ports import CompanionError

SENTENCES: Final[dict[str, Words]] = {
    "no-folder": Words("There is no data folder {folder}; start `companion serve` once, or name it with --data."),
    "nothing-to-keep": Words("There are no nights in {folder} yet."),
    "exists": Words("{file} exists already; nothing was overwritten."),
    "cannot-write": Words("The backup could not be written ({why}); what was there before is untouched."),
    "cannot-read": Words("{file} cannot be read ({why})."),
    "not-ours": Words("{file} is not a companion’s backup."),
    "broken": Words("{file} is damaged or cut off ({part}); nothing was restored."),
    "newer": Words("{file} was made by a newer companion; update this one first."),
    "needs-passphrase": Words("{file} is encrypted; it opens with its passphrase only."),
    "wrong-passphrase": Words("This is not the passphrase of {file}."),
    "passphrase-unfit": Words("A passphrase has at least {least} characters; four or five words make a good one."),
    "passphrase-lost": Words(
        "Write the passphrase down, away from this box: a lost passphrase is a lost backup. Nobody can open it without "
        "it."
    ),
    "too-large": Words("{file} is larger than the backups accepted here ({limit} MB)."),
    "pieces-missing": Words("{file} did not arrive whole; nothing was changed. Send it again."),
    "in-use": Words("A companion is running on {folder}; end it first (sudo systemctl stop companion)."),
    "no-room": Words("There is no room in {folder}: {need} MB are needed, {free} MB are free."),
    "no-stick": Words("No USB stick is plugged in and mounted."),
    "stick-chosen": Words("{file} is on the USB stick; it may be unplugged."),
    "stick-failed": Words("The nights could not be copied to the USB stick: {why}"),
    "nightly-failed": Words("The nightly backup could not be made: {why}"),
    "made": Words(
        "{file}: {seq:plural|# entry|# entries} of the journal, {pictures:plural|# picture|# pictures}, "
        "{size:decimal} MB; checked."
    ),
    "sound": Words(
        "{file} is sound: {seq:plural|# entry|# entries} of the journal, {pictures:plural|# picture|# pictures}."
    ),
    "restored": Words(
        "Restored: {seq:plural|# entry|# entries} of the journal, {pictures:plural|# picture|# pictures}. What was "
        "there before is in {former}."
    ),
    "later": Words(
        "{count:plural|One confirmed entry is|# confirmed entries are} not in this backup, because they came later; "
        "they are in {former}."
    ),
    "settings-asked": Words(
        "The backup says about this machine: {settings}. None of it was taken; the page asks for it in the settings."
    ),
    "copied-damage": Words("Entries {first} to {last} were damaged already when this backup was made."),
    "none-helps": Words(
        "No backup in {folder} has what is damaged or missing; nothing was changed. To bring one back all the same, "
        "name it."
    ),
    "clock-behind": Words(
        "The clock is behind the last entry of the journal: nothing is lost, but the times are wrong. It will be put "
        "right once there is internet, or a clock module."
    ),
    "clock-jumped": Words(
        "The clock was put {what} by {minutes:plural|# minute|# minutes}; the order of the journal does not "
        "depend on it."
    ),
}


class BackupError(CompanionError, OSError):
    """Nights could not be copied or brought back; ``words`` is the sentence."""

    def __init__(self, key: str, **facts: object) -> None:
        self.key, self.facts = key, facts
        self.words = SENTENCES[key].filled(facts)
        super().__init__(self.words.en)


def message(key: str, **facts: object) -> Words:
    """Return a sentence with its facts filled in."""
    return SENTENCES[key].filled(facts)
