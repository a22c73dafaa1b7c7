"""`companion vision teach-cards`, `cards`, `pile` and `round`: cards in photos, by the rules of their games."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.cli.vision.board import JSON, OUT, PHOTO, PROFILE, read_photo

if TYPE_CHECKING:
    from companion.ports import ByteArray
    from vision.cards.detect import CardFinder


class _GameWithCards(click.ParamType[str]):
    """A game whose cards can be taught."""

    name = "game"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the id, refused in the words of click's own choices."""
        from companion.follow.cards import cards_of, every_cards

        try:
            cards_of(value)
        except KeyError:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, every_cards()))}.", param, ctx)
        return value


WITH_CARDS = click.argument("game_id", metavar="GAME", type=_GameWithCards())


def _order(game_id: str, order: str) -> list[str]:
    """Return the names of the cards as they lie: those of a file, a line each, or all of the game."""
    from companion.follow.cards import cards_of
    from companion.ports import BadDataError

    every, example = cards_of(game_id).names, cards_of(game_id).example
    if order == "default":
        return list(every)
    try:
        lines = Path(order).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadDataError(f"{order}: the order cannot be read.") from error
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    for name in names:
        if name not in every:
            raise BadDataError(f"{order}: {name[:40]!r} is no card of {game_id}; one is written like {example}.")
    return names


def _finder(folder: Path, game_id: str) -> CardFinder:
    from companion.ports import BadDataError
    from vision.cards import messages
    from vision.cards.deck import load_deck
    from vision.cards.detect import CardFinder

    deck = load_deck(folder, game_id)
    if deck is None:
        raise BadDataError(f"{folder}: {messages.NOT_TAUGHT}")
    return CardFinder(deck)


def _taught(folder: Path, game_ids: Sequence[str]) -> str:
    """Return the first of some games whose cards were taught in a profile, or else the first."""
    from vision.cards.deck import file_of

    return next((game_id for game_id in game_ids if file_of(folder, game_id).exists()), game_ids[0])


def _write(out: Path | None, image: ByteArray) -> None:
    from companion.ports import BadDataError
    from vision.decode.photo import to_jpeg
    from vision.whole_file import write_whole

    if out is None:
        return
    if out.suffix.lower() not in {".jpg", ".jpeg"}:
        raise BadDataError("--out must end in .jpg for photos of cards.")
    write_whole(out, to_jpeg(image))


@click.command("teach-cards")
@WITH_CARDS
@click.argument("photos", metavar="PHOTO...", nargs=-1, required=True, type=PHOTO)
@click.option(
    "--order",
    default="default",
    show_default=True,
    help="A file with a card a line as they lie, row by row through all photos; default: all of the game, in order.",
)
@PROFILE
@JSON
def teach_cards(game_id: str, photos: tuple[Path, ...], order: str, folder: Path, as_json: bool) -> None:
    """Learn from PHOTO... of sheets what the cards of GAME look like: side by side, upright, with gaps between them."""
    from vision.cards.deck import deck_to_extend, save_deck, teach

    names = _order(game_id, order)
    deck = teach(game_id, [read_photo(photo) for photo in photos], names, deck_to_extend(folder, game_id))
    path = save_deck(folder, deck)
    report: dict[str, Any] = {
        "game": game_id,
        "cards": len(deck.names),
        "learnt": len(names),
        "bytes": path.stat().st_size,
    }
    if as_json:
        click.echo(json.dumps(report))
    else:
        click.echo(f"{path}: {len(names)} cards learnt, {len(deck.names)} known, {report['bytes'] / 1e6:.1f} MB")


@click.command("cards")
@WITH_CARDS
@click.argument("photos", metavar="PHOTO...", nargs=-1, required=True, type=PHOTO)
@PROFILE
@OUT
@JSON
def cards(game_id: str, photos: tuple[Path, ...], folder: Path, out: Path | None, as_json: bool) -> int:
    """Say which taught cards of GAME lie in each PHOTO. Exit status 1: in some there is none."""
    from vision.cards.pile import drawn, read_cards

    finder = _finder(folder, game_id)
    whole = True
    for photo in photos:
        image = read_photo(photo)
        read = read_cards(finder.find(image), finder.deck)
        whole = whole and bool(read)
        _write(out, drawn(image, read))
        if as_json:
            click.echo(json.dumps({"photo": str(photo), "cards": [card.to_json() for card in read]}))
        else:
            click.echo(f"{photo}: {', '.join(_worded(card.name, card.sure) for card in read) or 'no card'}")
    return 0 if whole else 1


def _worded(name: str, sure: bool) -> str:
    return name if sure else f"{name} ?"


@click.command("pile")
@click.argument("photos", metavar="PHOTO...", nargs=-1, required=True, type=PHOTO)
@click.option("--count", type=click.IntRange(1, 120), help="So many cards are in the pile; another number is doubtful.")
@PROFILE
@OUT
@JSON
def pile(photos: tuple[Path, ...], count: int | None, folder: Path, out: Path | None, as_json: bool) -> int:
    """Score a pile of Arctic that is fanned out in PHOTO..., its lowest cards in the first; by the rules, with clauses.

    Exit status 1: a card is doubtful, or none was found, or another number than was counted.
    """
    from companion.follow.cards import every_cards
    from vision.cards.pile import drawn, read_pile

    piles = {game_id: cards.pile for game_id, cards in every_cards().items() if cards.pile is not None}
    game_id = _taught(folder, list(piles))
    finder = _finder(folder, game_id)
    read = []
    for photo in photos:
        image = read_photo(photo)
        here = read_pile(finder.find(image), finder.deck)
        _write(out, drawn(image, here))
        read += here
    kinds = [card.kind for card in read]
    lines, total = _pile_score(piles[game_id](kinds))
    doubtful = [n for n, card in enumerate(read, 1) if not card.kind_sure or card.gap_before]
    if as_json:
        report = {"pile": [card.to_json() for card in read], "doubtful": doubtful, "total": total, "lines": lines}
        click.echo(json.dumps(report, ensure_ascii=False))
    else:
        for number, card in enumerate(read, 1):
            hidden = "  (is one hidden below?)" if card.gap_before else ""
            click.echo(f"  {number}: {_worded(card.name, card.sure)}{hidden}")
        for line in lines:
            click.echo(f"{line['points']:4d}  {line['en']}  {', '.join(line['clauses'])}")
        click.echo(f"{total:4d}  without totem and Penalty cards, of {len(read)} cards: count them in the photo")
        if count is not None and count != len(read):
            click.echo(f"{count} cards were counted, and {len(read)} were read: look which is missing, or too many.")
    return 1 if doubtful or len(read) != (count or len(read)) or not read else 0


def _pile_score(position: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    from companion.night.views.position_sheet import sheet

    scored_players: Any = sheet(position, "en")["players"]
    return [line for line in scored_players[0]["lines"] if line["points"]], int(scored_players[0]["total"])


@click.command("round")
@click.argument("placed", metavar="PLACED", type=PHOTO)
@click.argument("turned", metavar="TURNED", type=PHOTO, required=False)
@PROFILE
@OUT
@JSON
def round_(placed: Path, turned: Path | None, folder: Path, out: Path | None, as_json: bool) -> int:
    """Score a round of Igloo Pop: PLACED shows the igloos with their thalers, TURNED the same igloos upturned.

    Exit status 1: something is doubtful, or still without a number.
    """
    from companion.follow.cards import every_cards
    from vision.cards.pile import drawn
    from vision.cards.round import join, read_both, read_round

    rounds = {game_id: cards.round for game_id, cards in every_cards().items() if cards.round is not None}
    game_id = _taught(folder, list(rounds))
    finder = _finder(folder, game_id)
    photo = read_photo(placed)
    found = finder.find(photo)
    if turned is None:
        read = read_round(photo, found, finder.deck)
        numbers: list[int | None] = [one.number for one in read.igloos]
    else:
        after = read_photo(turned)
        read, second = read_both((photo, after), (found, finder.find(after)), finder.deck)
        numbers = [number for _, number in join(read, second)]
    _write(out, drawn(photo, read.cards))
    card_forms: list[Any] = [
        {
            "place": f"card{place + 1}",
            "card": card.name,
            "igloos": [
                {"colour": one.colour, "number": n}
                for one, n in zip(read.igloos, numbers, strict=True)
                if one.card == place and one.colour is not None
            ],
        }
        for place, card in enumerate(read.cards)
    ]
    judged = rounds[game_id].judge(card_forms)
    doubtful = any(one.unsure for one in read.igloos) or any(not card.sure for card in read.cards)
    if as_json:
        answer = {"read": read.to_json(), "cards": card_forms, "doubtful": doubtful, **judged}
        click.echo(json.dumps(answer, ensure_ascii=False))
    else:
        for card, one in zip(read.cards, card_forms, strict=True):
            igloos: Any = one["igloos"]
            shown = ", ".join(f"{igloo['colour']} {igloo['number'] or '?'}" for igloo in igloos)
            click.echo(f"  {one['place']}: {_worded(card.name, card.sure)}  {shown}")
        results: Any = judged["results"]
        for result in results:
            click.echo(f"{'/'.join(map(str, result['card']))}: {result['en']}  {', '.join(result['clauses'])}")
    return 1 if doubtful or judged["open"] or judged["refused"] or not card_forms else 0
