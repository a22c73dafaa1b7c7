"""The schema of the training book, and each form in which it was ever written."""

from __future__ import annotations

from companion.ports import COUNTS

APPLICATION_ID = 0x54524E31

SCHEMA = f"""
CREATE TABLE people (
  id INTEGER PRIMARY KEY, at INTEGER NOT NULL, name TEXT, same_as INTEGER REFERENCES people(id)
) STRICT;
CREATE TABLE duels (
  id TEXT PRIMARY KEY, at INTEGER NOT NULL, people TEXT NOT NULL, rounds INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE rounds (
  id TEXT PRIMARY KEY, at INTEGER NOT NULL, person INTEGER REFERENCES people(id), duel TEXT REFERENCES duels(id),
  number INTEGER NOT NULL, kind TEXT NOT NULL, shake INTEGER, seed INTEGER NOT NULL,
  truth INTEGER CHECK (truth BETWEEN {COUNTS.start} AND {COUNTS.stop - 1}), machine TEXT NOT NULL DEFAULT '[]',
  shown INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE answers (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, round TEXT NOT NULL REFERENCES rounds(id),
  person INTEGER NOT NULL REFERENCES people(id),
  guess INTEGER NOT NULL CHECK (guess BETWEEN {COUNTS.start} AND {COUNTS.stop - 1}), UNIQUE (round, person)
) STRICT;
CREATE INDEX answers_of ON answers (person);
CREATE INDEX rounds_of ON rounds (duel, number);
CREATE TRIGGER answers_stay BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'answers stay as they were given'); END;
CREATE TRIGGER answers_kept BEFORE DELETE ON answers BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
CREATE TRIGGER people_kept BEFORE DELETE ON people BEGIN SELECT RAISE(ABORT, 'people are kept'); END;
CREATE TRIGGER truth_stays BEFORE UPDATE OF truth ON rounds WHEN OLD.truth IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'the truth stays'); END;
"""

TAKEN = "CREATE TABLE IF NOT EXISTS taken (file TEXT PRIMARY KEY, at INTEGER NOT NULL, shakes TEXT NOT NULL) STRICT"
"""Files that were taken along, with the shakes in them: number, seed, truth and the machine's opinion, as JSON."""

SAME_AS = "ALTER TABLE people ADD COLUMN same_as INTEGER REFERENCES people(id)"
"""What a book lacks that was begun before people could be made one."""

TABLES = ("people", "duels", "rounds", "answers", "taken")


def forms() -> tuple[tuple[str, ...], ...]:
    """Return the statements that make a book of today, and those that made the ones of older programs."""
    before = SCHEMA.replace(", same_as INTEGER REFERENCES people(id)", "")
    return (SCHEMA, TAKEN), (before, SAME_AS, TAKEN), (before,)
