"""`companion playout`: a random legal game as a record."""

from __future__ import annotations

from random import Random

import click

from companion.rules import game, games
from companion.rules.playouts import playout


@click.command(
    help=f"""Print a random legal game of GAME as a record: a header, then one move a line.

    GAME is {", ".join(games()[:-1])} or {games()[-1]}, as far as they are there.
    """
)
@click.argument("name", metavar="GAME")
@click.option("--players", type=int, help="How many play (default: as few as can).")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same game.")
@click.option("--option", "chosen", multiple=True, metavar="NAME=VALUE", help="An option of the game; may be repeated.")
def command(name: str, players: int | None, seed: int, chosen: tuple[str, ...]) -> int:
    """Print a random legal game of GAME as a record."""
    if name not in games(examples=True):
        raise click.UsageError(f"There is no game {name!r}; there is {', '.join(games())}.")
    played = game(name)
    options: dict[str, str | bool | int] = {}
    for text in chosen:
        key, sign, value = text.partition("=")
        known = next((option for option in played.options if option.name == key), None)
        if not sign or known is None:
            there = ", ".join(option.name for option in played.options)
            raise click.UsageError(f"An option is NAME=VALUE, and {name} has {there or 'none'}, not {text!r}.")
        options[key] = next((v for v in known.values if str(v).lower() == value.lower()), value)
    count = played.players[0] if players is None else players
    record, _ = playout(played, count, Random(seed), options)  # noqa: S311 - a game, no secret
    for line in record.lines():
        click.echo(line)
    return 0
