"""What the night itself says, in English and French; what the rules say comes from their clause files.

The answers of a night go to phones of all languages at once and into logs that all read, so each sentence carries
both here, where a test holds their facts together; a further language has them in its catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping

from companion.rules.i18n import Words

__all__ = ["SENTENCES", "Words", "say"]

SENTENCES: dict[str, Words] = {
    # --- the disk
    "disk-full": Words("The memory card is full: nothing was written, and nothing was done. Make room and try again."),
    "disk-read-only": Words("The memory card is read-only: nothing was written, and nothing was done."),
    "disk-busy": Words("Another program is writing to the same file; nothing was done. Try again."),
    "disk-damaged": Words("{file} is damaged; it was left as it is."),
    "disk-half-missing": Words("{file} is missing while its companion {file}-wal is there; nothing was touched."),
    "disk-foreign": Words("{file} is a database of another program; it was left as it is."),
    "disk-newer": Words(
        "{file} was written by a newer companion (version {version}, this one knows {known}); it was left as it is."
    ),
    "disk-cannot-open": Words("{file} cannot be opened."),
    "disk-in-use": Words("Another companion is already writing {file}."),
    "disk-failed": Words("The disk failed ({why}): nothing was done."),
    "card-full": Words(
        "The memory card is full: nothing more can be entered until there is room. What was entered is safe."
    ),
    "card-read-only": Words(
        "The memory card cannot be written any more: nothing more can be entered. What was entered is safe; copy it to "
        "a USB stick and start afresh."
    ),
    "card-failed": Words("The memory card fails ({why}): nothing more can be entered. Copy the nights to a USB stick."),
    "card-again": Words("The memory card can be written again."),
    # --- refusals
    "stale": Words("The table has moved on since this was shown; look again."),
    "id-reused": Words("The mark of this action has already been used for something else; nothing was done."),
    "watch-only": Words("Those who only watch cannot change anything; join with the table’s PIN."),
    "host-only": Words("Only the host may do this."),
    "agreement": Words("This needs the agreement of the table, which the host confirms."),
    "paused": Words("The night is paused; resume it first."),
    "not-paused": Words("The night is not paused."),
    "no-match": Words("No game is open."),
    "match-open": Words("A game is still open; close it first."),
    "not-over": Words("This game is not over yet."),
    "series-over": Words("The series is decided; open a new one."),
    "no-series": Words("No game has been played yet."),
    "bad-command": Words("There is no command {command}."),
    "bad-field": Words("The field {field} is missing or is not what it should be."),
    "bad-body": Words("There is no field {field} here."),
    "not-json": Words("This cannot be kept: it is too long, or not JSON."),
    "bad-action-id": Words("An action needs a mark of its own, a text of 1 to 100 characters."),
    "bad-name": Words("A player’s name has 1 to {most} characters, all of them visible."),
    "no-such-clause": Words("The rulebook has no clause {clause}."),
    "no-such-colour": Words("Nobody here plays {colour}."),
    "no-such-fault": Words("There is no such fault to dismiss."),
    "nothing-to-undo": Words("There is nothing to undo."),
    "table-draws": Words("This table draws its own cards; say which ones lie there."),
    "companion-draws": Words("In this game the companion draws the cards; nobody chooses them."),
    "nothing-to-draw": Words("There is no card to draw now."),
    "nobody-to-pass": Words("There is nobody left who could stop now."),
    "sensor-alone": Words("The sensor is marked with a single placement, and with nothing else in the same entry."),
    "sensor-twice": Words("The sensor is already under an igloo of this round."),
    "entries-lost": Words(
        "{count:plural|One confirmed entry|# confirmed entries} after this could not be read from the card any more."
    ),
    "entries-missing": Words(
        "{count:plural|One confirmed entry|# confirmed entries} from {when} or later can no longer be read from the "
        "card."
    ),
    "entries-changed": Words(
        "{count:plural|One entry|# entries} of {when}, from number {first} on, changed on the card."
    ),
    "moves-missing": Words(
        "{game}, {when}: what was confirmed after move {move} is no longer on the card "
        "({count:plural|one entry|# entries})."
    ),
    "moves-changed": Words(
        "{game}, {when}: {count:plural|move {moves} is|moves {moves} are} not as entered: the card changed it."
    ),
    "game-changed": Words("{game}, {when}: something besides the moves changed on the card (entry {first})."),
    "backup-has-them": Words("The backup {file} has it as it was."),
    "rules-changed": Words(
        "From entry {seq} on, this game was played by rules that this companion does not know; it is shown up to there."
    ),
    "ended-already": Words("This game was ended by the table; take that back to go on with it."),
    "sheet-not-over": Words("This is not yet the sheet of a finished game: something that decides is missing."),
    "sheet-other-game": Words("The open game is {game}; this sheet is for another game."),
    "sheet-other-players": Words("The players on the sheet are not those who are named."),
    # --- what was done (answers and log)
    "night-opened": Words("The night begins."),
    "match-opened": Words("A game of {game} begins."),
    "next-game": Words("The next game of {game} begins."),
    "match-closed": Words("The game is closed."),
    "sheet-kept": Words("A finished game is kept from its score sheet: {game}."),
    "sheet-ends": Words("The game ends with the totals of its score sheet."),
    "sheet-taken-out": Words("The game that was kept from its score sheet is taken out again; the table agreed."),
    "ended-early": Words("The game was ended early; the standing at that moment is kept."),
    "goes-on-again": Words("The game goes on; the table agreed."),
    "shared-early": Words("Ended early: this is the standing at that moment."),
    "shared-sheet": Words("Counted at the end, from the score sheet."),
    "dealt": Words("New cards: {cards}."),
    "arranged": Words("The companion draws the set-up ({count:plural|one step|# steps})."),
    "not-your-seat": Words("Only the phone that has taken this seat plays from its hand."),
    "stopped": Words("The table agrees to stop."),
    "undone": Words("{count} steps are taken back."),
    "undone-one": Words("One step is taken back."),
    "undone-agreed": Words("{count} steps are taken back; the table agreed."),
    "undone-one-agreed": Words("One step is taken back; the table agreed."),
    "undone-seen": Words("Counts may have been seen in the meantime."),
    "nothing-set": Words("The board already lies as the record says."),
    "corrected": Words("Score corrected for {who}: {points:+d}, as the table agreed ({reason})."),
    "correction-line": Words("Correction by agreement: {reason}"),
    "clock-set": Words("A turn clock runs: {count:plural|one minute|# minutes} a turn."),
    "clock-off": Words("There is no turn clock any more."),
    "paused-now": Words("The night is paused."),
    "resumed": Words("The night goes on."),
    "fault-said": Words("A fault was called ({clause})."),
    "fault-turned": Words("The sensor igloo was turned over in a live round."),
    "fault-lifted": Words("The sensor igloo was lifted after it was placed."),
    "fault-carried": Words("The sensor igloo was moved after it was placed."),
    "fault-shaken": Words("The sensor igloo was shaken after it was placed."),
    "fault-turned-placed": Words("The sensor igloo was turned over after it was placed."),
    "fault-dismissed": Words("A fault was dismissed; the table agreed."),
    "evidence-kept": Words("A picture of the table was kept."),
}


def say(key: str, facts: Mapping[str, object] | None = None) -> Words:
    """Return a sentence with its facts filled in."""
    return SENTENCES[key].filled(facts or {})
