"""What a player may be called, counted as a reader counts, and how two of one name are told apart.

One rule for records, positions, the API and the page (``web/static/js/faces.js`` counts the same way). Letters, marks,
digits, signs and emoji of any script are taken, in Unicode's form NFC; of what cannot be seen only what a script or an
emoji needs where it stands: the joiners between two letters of a joining script, beside a virama, or inside an emoji.
So no name hides something, turns the text round, or looks like another without being it.

Sources: Unicode Standard Annex 29 (grapheme clusters), RFC 5892 appendix A (where a joiner may stand), Unicode
Technical Standard 51 (emoji).
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

LONGEST_NAME: Final = 40
"""What a name has at most, in grapheme clusters: a family of four is one."""
LONGEST_READ: Final = 60
"""Characters of a name that a record or a position may have besides: those of 0.1.0 had so many."""
MOST_IN_CLUSTER: Final = 16
"""Code points in one cluster: the longest emoji have ten, and a letter with more marks is a scribble."""
MOST_CODE_POINTS: Final = LONGEST_NAME * MOST_IN_CLUSTER
"""What a name can have at most in code points."""

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_JOINERS: Final = frozenset((_ZWNJ, _ZWJ))
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and signs that show nothing."""
_BLACK_FLAG: Final = "\U0001f3f4"
_TAGS: Final = range(0xE0020, 0xE007F)
_END_OF_TAGS: Final = 0xE007F

_JOINING: Final = (
    (0x0600, 0x08FF),  # Arabic, Syriac, N'Ko, Mandaic and what belongs to them
    (0x1800, 0x18AF),  # Mongolian
    (0xA840, 0xA87F),  # Phags-pa
    (0x10AC0, 0x10AFF),  # Manichaean
    (0x10D00, 0x10D3F),  # Hanifi Rohingya
    (0x1E900, 0x1E95F),  # Adlam
)
_PICTURES: Final = (
    (0x00A9, 0x00A9),
    (0x00AE, 0x00AE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2190, 0x2BFF),
    (0x3030, 0x303D),
    (0x3297, 0x3299),
    (0x1F000, 0x1F1E5),
    (0x1F200, 0x1F3FA),
    (0x1F400, 0x1FAFF),
)
"""Where the pictures lie that a joiner makes one of; the gap is that of the tones of skin."""
_CONJUNCTS: Final = (0x0900, 0x0980, 0x0A80, 0x0B00, 0x0C00, 0x0D00)
"""The blocks whose virama makes one cluster of two consonants, 128 code points each."""


def _within(char: str, ranges: Sequence[tuple[int, int]]) -> bool:
    code = ord(char)
    at = bisect_right(ranges, (code, 0x110000)) - 1
    return at >= 0 and code <= ranges[at][1]


def _selects(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef" or char in "\u180b\u180c\u180d\u180f"


def _flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _tag(char: str) -> bool:
    return ord(char) in _TAGS or ord(char) == _END_OF_TAGS


def _extends(char: str) -> bool:
    """Return whether a code point belongs to the one before it."""
    return unicodedata.category(char)[0] == "M" or char in _JOINERS or "🏻" <= char <= "🏿" or _tag(char)


def _virama(char: str) -> bool:
    return unicodedata.combining(char) == 9


def _consonant(char: str) -> int | None:
    """Return the block of a consonant that forms conjuncts, or None."""
    code = ord(char)
    block, offset = code & ~0x7F, code & 0x7F
    return block if block in _CONJUNCTS and (0x15 <= offset <= 0x39 or 0x58 <= offset <= 0x5F) else None


def _jamo(char: str) -> str:
    """Return which part of a Korean syllable a code point is: L, V, T, a whole one without (A) or with its end (B)."""
    code = ord(char)
    if 0xAC00 <= code <= 0xD7A3:
        return "B" if (code - 0xAC00) % 28 else "A"
    for part, first, last in (("L", 0x1100, 0x115F), ("V", 0x1160, 0x11A7), ("T", 0x11A8, 0x11FF)):
        if first <= code <= last:
            return part
    return ""


_SYLLABLE: Final = frozenset(("LL", "LV", "LA", "LB", "AV", "AT", "VV", "VT", "BT", "TT"))


def _goes_on(cluster: str, char: str) -> bool:
    """Return whether ``char`` belongs to the cluster before it."""
    last = cluster[-1]
    if _extends(char):
        return True
    if _flag(char):
        return len(cluster) == 1 and _flag(last)
    if last == _ZWJ and _within(char, _PICTURES) and _within(cluster[0], _PICTURES):
        return True
    block = _consonant(char)
    if block is not None and block == _consonant(cluster[0]):
        behind = cluster[max(at for at, one in enumerate(cluster) if _consonant(one) is not None) + 1 :]
        return any(_virama(one) for one in behind)
    return _jamo(last) + _jamo(char) in _SYLLABLE


def clusters(text: str) -> list[str]:
    """Return the grapheme clusters of a text: what a reader takes for one sign.

    >>> [len(cluster) for cluster in clusters("Zoe\u0301👨‍👩‍👧‍👦")]
    [1, 1, 2, 7]
    """
    found: list[str] = []
    for char in text:
        if found and _goes_on(found[-1], char):
            found[-1] += char
        else:
            found.append(char)
    return found


def _joins(text: str, at: int) -> bool:
    """Return whether the joiner at a place has something to join there."""
    before, after = text[:at][-1:], text[at + 1 : at + 2]
    if before and _virama(before):
        return after not in _JOINERS  # the pure consonants of Malayalam end so
    if not before or not after:
        return False
    if _virama(after):
        return unicodedata.category(before)[0] in "LM"
    base = next((one for one in reversed(text[:at]) if unicodedata.category(one)[0] != "M"), "")
    if not base:
        return False
    if text[at] == _ZWJ and _within(after, _PICTURES):
        toned = "🏻" <= base <= "🏿"
        return toned or _within(base, _PICTURES)
    return _within(base, _JOINING) and _within(after, _JOINING)


def _fits(text: str, at: int, cluster: str) -> bool:
    """Return whether a code point may stand where it does in its cluster, and the cluster in ``text``."""
    char = text[at]
    if char in _JOINERS:
        return _joins(text, at)
    if _tag(char):
        return cluster[0] == _BLACK_FLAG and ord(cluster[-1]) == _END_OF_TAGS
    if _selects(char):  # of a letter with capitals there is but one form
        before = text[:at][-1:]
        return bool(before) and not _selects(before) and before not in _JOINERS and before.lower() == before.upper()
    kind = unicodedata.category(char)
    return char == " " or (kind[0] not in "CZ" and char not in _UNSEEN)


def _starts(cluster: str) -> bool:
    """Return whether a cluster begins with something that can be seen."""
    return cluster == " " or (unicodedata.category(cluster[0])[0] in "LNPS" and cluster[0] not in _UNSEEN)


def _sound(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each cluster of a text, and whether a name may have it there."""
    at = 0
    for cluster in clusters(text):
        fits = _starts(cluster) and len(cluster) <= MOST_IN_CLUSTER
        yield cluster, fits and all(_fits(text, at + n, cluster) for n in range(len(cluster)))
        at += len(cluster)


def _spaced(text: str) -> str:
    spaces = (
        " " if unicodedata.category(char) == "Zs" else char for char in unicodedata.normalize("NFC", text).strip()
    )
    return " ".join(part for part in "".join(spaces).split(" ") if part)


def proper_name(text: str) -> str | None:
    """Return a name as it is kept, in NFC with single spaces, or None where it is none.

    >>> proper_name("  Zoé   Lê ")
    'Zoé Lê'
    >>> proper_name("\u200d") is proper_name("Ann\u202e") is None
    True
    """
    if len(text) > 2 * MOST_CODE_POINTS:
        return None
    name = _spaced(text)
    found = list(_sound(name))
    return name if 0 < len(found) <= LONGEST_NAME and all(fits for _, fits in found) else None


def read_name(text: str) -> str | None:
    """Return the name that a record or a position gives; one that is longer than the rule was taken by 0.1.0.

    None: it is no name.
    """
    name = _spaced(text) if len(text) <= LONGEST_READ else None
    if name and all(fits for _, fits in _sound(name)):
        return name
    return proper_name(text)


def shown_name(text: str) -> str:
    """Return a name that was kept before this rule as far as the rule goes: without what it does not take."""
    return "".join(cluster for cluster, fits in _sound(_spaced(text)) if fits).strip()


def name_key(name: str) -> str:
    """Return what two names share that are one: capitals and the way an accent is written do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def shortened(name: str, most: int) -> str:
    """Return the beginning of a name where it has more than so many clusters."""
    return "".join(clusters(name)[:most])


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are alike: the second Ann is "Ann (2)"; empty ones stay so.

    >>> told_apart(["Ann", "Bob", "ann"])
    ('Ann', 'Bob', 'ann (2)')
    """
    taken = {name_key(name) for name in names if name}
    seen: set[str] = set()
    found = []
    for name in names:
        one, number = name, 2
        if name and name_key(name) in seen:
            while name_key(one) in taken:
                mark = f" ({number})"
                one, number = shortened(name, LONGEST_NAME - len(mark)).rstrip() + mark, number + 1
            taken.add(name_key(one))
        seen.add(name_key(name))
        found.append(one)
    return tuple(found)
