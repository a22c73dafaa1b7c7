"""A position of Arctic as a picture: SVG that reads in print, in grey and for colour-blind people.

It shows what lies open: landscape and tokens, River, power cards, and of each player the pile, fanned out as it scores
now, and how many cards are in hand and in the Penalty zone. Nothing is told by colour alone: each animal has a shape
and letters, a card that lies face down is hatched, a refused step is marked with a cross and dashes, a legal one with a
tick and full lines.
"""

from __future__ import annotations

from html import escape
from typing import Final

from companion.rules.arctic.components import ANIMAL_OF_POWER, FACE_DOWN, LANDSCAPE, PHASE_OF_POWER, RIVER
from companion.rules.arctic.moves import BOTTOM, UNDER, ArcticMove, arrow_step
from companion.rules.arctic.position import ArcticPosition
from companion.rules.arctic.score import NOTHING, PileReading, reading_of
from companion.rules.arctic.svg_parts import (
    DEFS,
    PALE,
    Rect,
    animal,
    arrow,
    box,
    card,
    footprint,
    frame,
    shaded,
    small_card,
    text,
    tinted,
)
from companion.rules.core import Ruling
from companion.rules.drawing import badge, outline, paint, reason_outline
from companion.rules.drawing import caption as ruling_caption
from companion.rules.i18n import Words, same
from companion.rules.names import shortened, told_apart
from companion.rules.rulebook import rulebook

WIDTH = 920
MARGIN = 20
LINE = 20
CAPTION = 112
"""Characters of the caption in a line."""
TOKEN_SCALE = 0.85
LAND: Rect = (MARGIN, 52, 140, 104)
CARD_WIDTH, CARD_HEIGHT = 98, 118
RIVER_TOP = 186
POWER: Rect = (MARGIN, 322, 140, 46)
PLAYERS_TOP = 386
SMALL: Rect = (MARGIN + CARD_WIDTH + 26, 44, 35, 42)
"""The first card of a fanned pile, in its panel."""
STEP = 37
ACROSS = 20
ROW = 66

WORDS: Final = {
    "title": Words("Arctic, position"),
    "river": Words("River"),
    "pile": Words("pile"),
    "reserve": Words("Reserve"),
    "centre": Words("centre"),
    "hand": Words("hand"),
    "penalty": Words("Penalty"),
    "totem": Words("totem"),
    "points": Words("points"),
    "animals": Words("animals"),
    "normal": same(""),
    "final": Words("the Reserve is in play"),
    "last": Words("last round"),
    "phase": Words("phase"),
    "of": Words("of"),
    ":": Words(":"),
    "legend": Words("▼ cards to place · △ cards to draw"),
}


class _Picture:
    """The parts drawn so far, and the frames of what a step may be about, by name."""

    def __init__(self, s: ArcticPosition, lang: str, move: ArcticMove | None) -> None:
        self.s, self.lang, self.words, self.move = s, lang, {key: one.of(lang) for key, one in WORDS.items()}, move
        self.parts: list[str] = []
        self.frames: dict[str, Rect] = {}
        self.top = float(PLAYERS_TOP if s.players > 1 else 12)

    def add(self, *parts: str) -> None:
        self.parts += parts


def draw(
    state: ArcticPosition,
    move: ArcticMove | None = None,
    lang: str = "en",
    *,
    viewer: int | None = None,
    ruling: Ruling | None = None,
) -> str:
    """Return the position as SVG text; with a move also its marks, and below the table the ruling with its clauses.

    ``ruling``: that of a move that was judged elsewhere. Hands stay hidden but for that of ``viewer``; a pile alone (a
    position without other players) is drawn alone.
    """
    ruling = None if move is None else ruling or state.check(move)
    picture = _Picture(state, lang, move)
    if state.players > 1:
        _head(picture)
        _landscape(picture)
        _river(picture)
        _powers(picture)
    for seat in range(state.players):
        _player(picture, seat, viewer)
    caption: list[str] = []
    if move is not None and ruling is not None:
        _marks(picture, move, ruling)
        caption = ruling_caption(move, ruling, lang, CAPTION)
    for row, words in enumerate(caption):
        picture.add(text(MARGIN, picture.top + 16 + LINE * row, words, 15, bold=row == 0))
    height = picture.top + LINE * len(caption) + (14 if caption else 4)
    title = f"{WORDS['title'].of(lang)}: {state}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
            f'font-family="sans-serif" fill="{paint("ink")}">',
            f"<title>{escape(title)}</title>",
            DEFS,
            *([f"<desc>{escape(' '.join(caption))}</desc>"] if caption else []),
            f'<rect width="{WIDTH}" height="{height:g}" fill="{paint("paper")}"/>',
            *picture.parts,
            *_places(picture),
            "</svg>",
            "",
        ]
    )


def _places(p: _Picture) -> list[str]:
    """Return the frames of what a step may be about as shapes with their names, so that a page can light them."""
    return [
        f'<rect id="{name}" class="place" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="none"/>'
        for name, (x, y, w, h) in p.frames.items()
    ]


# --- the table --------------------------------------------------------------------------------------------------------


def _head(p: _Picture) -> None:
    s, words = p.s, p.words
    book = rulebook("arctic")
    now = book.word(s.phase, p.lang)
    if s.phase in {"A", "C"}:
        now += f", {s.count} {words['of']} {s.value}"
    whose = f"{told_apart(s.names)[s.seat]}{words[':']} " if s.seat >= 0 else ""
    stage = f" · {words[s.stage]}" if words[s.stage] else ""
    p.frames["phase"] = (MARGIN, 12, 420, 28)
    p.add(text(MARGIN + 4, 32, f"{whose}{now}{stage}", 17, bold=True))
    p.add(text(WIDTH - MARGIN, 32, words["legend"], 14, anchor="end"))


def _land(index: int) -> Rect:
    x, y, w, h = LAND
    return x + index * (w + 8), y, w, h


def _token(s: ArcticPosition, number: int) -> tuple[float, float]:
    """Return where a token stands: in the order of the animals, three in a row, above the landscape's number."""
    here = [other for other in range(6) if s.tokens[other] == s.tokens[number]]
    x, y, _, _ = _land(s.tokens[number])
    at = here.index(number)
    return x + 26 + 42 * (at % 3), y + 22 + 36 * (at // 3)


def _landscape(p: _Picture) -> None:
    for index, value in enumerate(LANDSCAPE):
        x, y, w, h = rect = _land(index)
        p.frames[f"land{value}"] = rect
        p.add(
            shaded(rect, fill="url(#ar-land)"),
            text(x + w - 8, y + h - 9, str(value), 26, anchor="end", bold=True, fill=paint("dusk")),
        )
    for number in range(6):
        p.add(animal(number, *_token(p.s, number), TOKEN_SCALE))


def _river(p: _Picture) -> None:
    s, words = p.s, p.words
    p.add(text(MARGIN, RIVER_TOP - 8, words["river"], 15, bold=True))
    for index in range(RIVER + 2):
        rect: Rect = (MARGIN + index * (CARD_WIDTH + 13.7), RIVER_TOP, CARD_WIDTH, CARD_HEIGHT)
        x, y, w, _ = rect
        if index < len(s.river) and index < RIVER:
            p.frames[f"card{s.river[index]}"] = rect
            p.add(*card(s.river[index], rect))
        elif index < RIVER:
            p.frames.setdefault("gap", rect)
            p.add(box(rect, fill="none", dash="4 4"))
        else:
            what, count = ("pile", s.pile_left) if index == RIVER else ("reserve", s.reserve)
            p.frames[what] = rect
            p.add(box(rect, fill="url(#ar-back)" if count else "none", dash="" if count else "4 4"))
            p.add(box((x + 14, y + 36, w - 28, 46), radius=4), text(x + w / 2, y + 67, str(count), 24, anchor="middle"))
            p.add(text(x + w / 2, y - 8, words[what], 15, anchor="middle", bold=True))


def _powers(p: _Picture) -> None:
    s = p.s
    for number in range(6):
        x, y, w, h = POWER
        rect = (x + number * (w + 8), y, w, h)
        p.frames[f"power{number}"] = rect
        power, owner = s.powers[number], s.owners[number]
        name = f"P.{power} · {PHASE_OF_POWER[power]}" if power else "?"
        p.add(box(rect, width=2 if owner >= 0 else 1), tinted(number, rect), animal(number, rect[0] + 24, y + 23, 0.85))
        p.add(text(rect[0] + 46, y + 20, name, 14, bold=True))
        where = shortened(told_apart(s.names)[owner], 13) if owner >= 0 else p.words["centre"]
        p.add(text(rect[0] + 46, y + 37, where, 13))


# --- a player ---------------------------------------------------------------------------------------------------------


def _player(p: _Picture, seat: int, viewer: int | None) -> None:
    s = p.s
    pile, reading, ghost = _pile_to_draw(p, seat)
    rows = max(1, -(-len(pile) // ACROSS))
    hand = s.hands[seat] if viewer == seat else ()
    height = max(CARD_HEIGHT + 54, 72 + ROW * rows) + (CARD_HEIGHT + 8 if hand else 0)
    top = p.top
    whole: Rect = (MARGIN - 8, top, WIDTH - 2 * MARGIN + 16, height)
    p.frames[f"player{seat}"] = whole
    p.add(box(whole, width=3 if seat == s.seat and s.players > 1 else 1))
    _nameplate(p, seat)
    p.add(text(SMALL[0], top + height - (CARD_HEIGHT + 8 if hand else 0) - 14, _sum(p, seat, reading), 15))
    upper: Rect = (MARGIN, top + 44, CARD_WIDTH, CARD_HEIGHT)
    p.frames[f"top{seat}"] = upper
    if s.piles[seat]:
        p.add(*card(s.piles[seat][-1], upper))
    else:
        p.add(box(upper, fill="none", dash="4 4"))
    for index, number in enumerate(pile):
        rect = _small(top, index)
        p.add(*small_card(number, reading.animals[index] if index < len(reading.animals) else NOTHING, rect))
        if index == ghost:
            p.frames[f"ghost{seat}"] = rect
    if ghost is None:
        _brackets(p, reading, top)
    for index, number in enumerate(hand):
        rect = (MARGIN + index * (CARD_WIDTH + 4), top + height - CARD_HEIGHT - 6, CARD_WIDTH, CARD_HEIGHT)
        p.add(*card(number, rect))
    p.top = top + height + 10


def _small(top: float, index: int) -> Rect:
    x, y, w, h = SMALL
    return x + STEP * (index % ACROSS), top + y + ROW * (index // ACROSS), w, h


def _pile_to_draw(p: _Picture, seat: int) -> tuple[list[int], PileReading, int | None]:
    """Return a pile from bottom to top, how it reads, and where in it the card of the step in question would come."""
    s, move = p.s, p.move
    pile, reading = list(s.piles[seat]), reading_of(s, seat)
    if move is None or move.kind != "place" or seat != s.seat:
        return pile, reading, None
    at = 0 if move.b == BOTTOM else max(0, len(pile) - 1) if move.b == UNDER else len(pile)
    pile.insert(at, move.a + FACE_DOWN if move.b == UNDER else move.a)
    after = s.copy()
    after.piles = (*s.piles[:seat], tuple(pile), *s.piles[seat + 1 :])
    return pile, reading_of(after, seat), at


def _nameplate(p: _Picture, seat: int) -> None:
    s, words, top = p.s, p.words, p.top
    p.add(text(MARGIN + 28, top + 27, shortened(told_apart(s.names)[seat], 32), 18, bold=True))
    if seat == s.first and s.players > 1:
        p.add(footprint(MARGIN + 11, top + 22))
    for index, (what, count) in enumerate((("hand", len(s.hands[seat])), ("penalty", len(s.penalties[seat])))):
        rect: Rect = (504 + 130 * index, top + 8, 118, 28)
        p.frames[f"{what}{seat}"] = rect
        p.add(
            box(rect, fill=PALE),
            text(rect[0] + 59, top + 27, f"{words[what]}{words[':']} {count}", 15, anchor="middle"),
        )
    totem: Rect = (764, top + 8, 130, 28)
    p.frames[f"totem{seat}"] = totem
    p.add(box(totem, fill=PALE), text(totem[0] + 14, top + 27, f"{words['totem']}{words[':']}", 15))
    shown = _shown_totem(s, seat)
    if shown >= 0:
        p.add(animal(shown, totem[0] + 98, top + 22, 0.7))
    else:
        p.add(text(totem[0] + 98, top + 28, "?", 17, anchor="middle", bold=True))


def _shown_totem(s: ArcticPosition, seat: int) -> int:
    """Return a totem that lies open, or -1: they are shown when the last turn is played (ARC-V.3)."""
    return s.totems[seat] if s.phase in {"totems", "over"} or s.players == 1 else -1


def _sum(p: _Picture, seat: int, reading: PileReading) -> str:
    """Return a pile's points as a sum: its runs, the different animals, the totem where it is shown, the penalties."""
    s, words = p.s, p.words
    runs = [run.points for run in reading.runs]
    bonus, penalties = reading.points - sum(runs), len(s.penalties[seat])
    parts = [str(points) for points in runs] or ["0"]
    total = reading.points - penalties
    if len(runs) > 1:
        parts.append(f"{bonus} ({words['animals']})")
    totem = _shown_totem(s, seat)
    if totem >= 0:
        at = LANDSCAPE[s.tokens[totem]]
        parts.append(f"{at} ({words['totem']})")
        total += at
    minus = f" − {penalties} ({words['penalty']})" if penalties else ""
    equals = f" = {total}".replace("-", "−") if len(parts) > 1 or minus else ""
    return f"{words['points']}{words[':']} {' + '.join(parts)}{minus}{equals}"


def _brackets(p: _Picture, reading: PileReading, top: float) -> None:
    """Draw a bracket under each counted run, with its points; where a run goes on in the next row, so does it."""
    for run in reading.runs:
        for row in range(run.begin // ACROSS, (run.end - 1) // ACROSS + 1):
            begin, end = max(run.begin, row * ACROSS), min(run.end, (row + 1) * ACROSS)
            x0, y, _, h = _small(top, begin)
            x1 = _small(top, end - 1)[0] + SMALL[2]
            low = y + h
            left, right = (4 if begin == run.begin else 0), (4 if end == run.end else 0)
            p.add(
                f'<path class="run" d="M{x0 + 2:g} {low + 6 - left:g}v{left}H{x1 - 2:g}v{-right}" fill="none" '
                f'stroke="{paint("ink")}" stroke-width="2.4"/>'
            )
            if end == run.end:
                p.add(text((x0 + x1) / 2, low + 20, f"{run.points}", 14, anchor="middle", bold=True))


# --- the step in question ---------------------------------------------------------------------------------------------


def marked(s: ArcticPosition, move: ArcticMove) -> list[str]:
    """Return the names of what a step is about: ``card7`` in the River, ``top0``, ``hand1``, ``land3``, ``phase`` …"""
    kind, a, b = move
    mine = max(s.seat, 0)
    if kind in {"draw", "river"}:
        return [f"card{a}" if a in s.river else "gap" if kind == "river" else "phase"]
    if kind == "swap":
        return [f"card{b}" if b in s.river else "phase", f"hand{mine}"]
    if kind == "give":
        return [f"penalty{mine}", f"penalty{b}"]
    return {
        "place": [f"ghost{mine}"],
        "take-back": [f"top{mine}"],
        "penalty": [f"penalty{mine}"],
        "draw-penalty": [f"penalty{mine}"],
        "discard": [f"hand{mine}", f"penalty{mine}"],
        "draw-pile": ["pile"],
        "refill": ["pile"],
        "pack": ["pile"],
        "hand": [f"hand{a}"],
        "totem": [f"totem{a}"],
        "first": [f"player{a}"],
        "side": [f"power{a}"],
    }.get(kind, ["phase"])


def _marks(p: _Picture, move: ArcticMove, ruling: Ruling) -> None:
    legal, power = ruling.legal, ruling.facts.get("power")
    if isinstance(power, str) and p.s.players > 1:
        # The power that a step needs, or that the table is without.
        number = ANIMAL_OF_POWER[int(power.removeprefix("P."))]
        if f"power{number}" not in marked(p.s, move):
            p.add(*reason_outline(frame(p.frames[f"power{number}"])))
    if move.kind in {"tokens", "extra"} and p.s.players > 1:
        _token_marks(p, move, legal=legal)
        return
    frames = [p.frames[name] for name in marked(p.s, move) if name in p.frames] or [p.frames["player0"]]
    for rect in frames:
        p.add(*outline(frame(rect), legal=legal))
    x, y, w, _ = frames[-1]
    p.add(badge(x + w, y, legal=legal))


def _token_marks(p: _Picture, move: ArcticMove, *, legal: bool) -> None:
    tips: list[float] = []
    for code in (move.a, move.b):
        if code < 0:
            continue
        number, step = arrow_step(code)
        x, y = _token(p.s, number)
        to = p.s.tokens[number] + step
        left, _, w, _ = _land(min(5, max(0, to)))
        # Beyond the ends there is nothing: the arrow of a refused step leads off the landscape.
        tip = left + (30 if step > 0 else w - 60) if 0 <= to <= 5 else (4 if to < 0 else WIDTH - 4)
        tip += 36 if tip in tips else 0
        tips.append(tip)
        p.add(*arrow(x, y - 14, tip, LAND[1] + 64, legal=legal))
    p.add(badge(tips[0], LAND[1] + 84, legal=legal))
