"""`companion bench`: speed and accuracy tables, with a peer beside each ratio where one is installed."""

from __future__ import annotations

import importlib
import json
import os
import platform
import random
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from companion.lab.rows import Row, row


def chess_moves_per_second(seconds: float) -> float | None:
    """Play random chess with python-chess, every move validated; None where it is not installed."""
    try:
        chess = importlib.import_module("chess")
    except ImportError:
        return None
    rng, moves, end = random.Random(1), 0, time.perf_counter() + seconds
    start = time.perf_counter()
    board = chess.Board()
    while time.perf_counter() < end:
        for _ in range(20):
            legal = list(board.legal_moves)
            if not legal or board.halfmove_clock > 90:
                board = chess.Board()
                continue
            move = rng.choice(legal)
            if not board.is_legal(move):
                raise RuntimeError("python-chess refuses its own move")
            board.push(move)
            moves += 1
    return moves / (time.perf_counter() - start)


def bench_rules(seconds: float) -> Iterable[Row]:
    """Measure random games with validation of every move, beside python-chess in the same run."""
    from companion.lab.bench.rules_speed import moves_per_second
    from companion.rules import games

    peer = chess_moves_per_second(seconds)
    if peer is not None:
        yield row("python-chess", round(peer), "moves/s", note="peer, random play, every move validated")
    else:
        yield row("python-chess", "not installed", note="the peer comes with the development extras")
    aims = {"igloo-pop": "ratio ≥ 3", "ice-team": "ratio ≥ 3"}
    for name in games():
        speed = moves_per_second(name, seconds)
        ratio = f"{speed / peer:.2f} × python-chess" if peer else ""
        yield row(name, round(speed), "moves/s", aims.get(name, "ratio ≥ 1"), ratio)


def bench_games(games: int, tick: Callable[[str], object]) -> Iterator[Row]:
    """Play random complete games of each game and number of players, and look at every state of them.

    ``tick`` is called after each game with what is being played. What each state is held to stands at
    :func:`companion.lab.bench.random_games.random_games`.
    """
    from companion.lab.bench.random_games import random_games

    for name, players in every_table():
        what = f"{name}, {players} players"
        begun = time.perf_counter()
        found = random_games(name, players, games, done=partial(tick, what))
        took = time.perf_counter() - begun
        note = f"{games} games, {found['moves']} moves, the longest {found['longest']}, {took:.0f} s"
        first = found["violations"][0] if found["violations"] else None
        violation = f"; seed {first['seed']!r}, after move {first['move']}: {first['what']}" if first else ""
        yield row(what, found["broken"], "broken", "0", note + violation)


def every_table() -> list[tuple[str, int]]:
    """Return each game with each number of players it is for."""
    from companion.rules import game, games

    return [(name, players) for name in games() for players in game(name).players]


def bench_turns(seconds: float) -> Iterable[Row]:
    """Explain random whole turns of every game: seen whole, a fifth unknown, two places spoilt, one step too many.

    A hundred turns a game where each timed run has its ten seconds, fewer or more in proportion.
    """
    from companion.lab.bench.turn_times import PI_4, measure_turns
    from companion.rules import games

    for name in games():
        for found in measure_turns(name, max(10, round(10 * seconds)), 2026):
            note = f"95 % {found.p95:.3f} s, slowest {found.slowest:.2f} s; {found.count} turns, "
            note += (
                f"{found.found} with a legal turn, right {found.right / found.count:.1%}, {found.given_up} stopped; "
            )
            note += f"a Pi 4, estimated: 95 % {PI_4 * found.p95:.1f} s, slowest {PI_4 * found.slowest:.0f} s"
            yield row(f"{name}, {found.asked}", f"{found.median:.4f}", "s", "median ≤ 0.02 s, 95 % ≤ 0.5 s, 3 s", note)


FOLLOWED = ("iglu-iglu", "ice-team", "arctic", "igloo-pop", "thin-ice")
"""Games that can be rendered and followed."""
WORLDS = ("drawn", "traced")
"""What draws the games that are followed."""
TRACED = FOLLOWED[:4]
"""Those that POV-Ray draws, too."""


def bench_track(seconds: float) -> Iterable[Row]:
    """Follow random games of Iglu Iglu through noise of several kinds; no entered turn may leave another board."""
    from companion.lab.bench.vision.tracker_trials import measure

    for found in measure(max(20, round(20 * seconds)), 2026):
        note = ", ".join(f"{key} {value}" for key, value in found.items() if key not in ("kind", "wrong"))
        yield row(f"noise: {found['kind']}", found["wrong"], "wrong entries", "0", f"simulated looks; {note}")


def bench_follow(
    seconds: float, game: str = FOLLOWED[0], world: str = WORLDS[0], seed: int | None = None
) -> Iterable[Row]:
    """Follow a rendered game with the service's camera: four turns for each second of a timed run."""
    from companion.lab.bench import follow
    from companion.lab.bench.vision import followed_cards

    rows = followed_cards.rows if game in (followed_cards.ARCTIC, followed_cards.POP) else follow.rows
    yield from rows(max(4, round(4 * seconds)), follow.SEED if seed is None else seed, game, world)


def bench_load(seconds: float) -> Iterable[Row]:
    """Measure what following costs while nothing moves and while pieces move, three timed runs long each."""
    from companion.lab.bench.vision.following_load import rows

    yield from rows(3 * seconds)


def bench_igloo(seconds: float) -> Iterable[Row]:
    """Measure the reader, and the real firmware in simavr where run from a checkout."""
    from companion.lab.bench.igloo import rows

    yield from rows(seconds)


def bench_shake(seconds: float, igloos: int = 2) -> Iterable[Row]:
    """Measure the cost of a count and of motion, accuracy as the data cards have it, and on a few fresh igloos."""
    from companion.lab.bench.shake import measure

    yield from measure(seconds, igloos=igloos)


def bench_balance(seconds: float) -> Iterable[Row]:
    """Weigh igloos on simulated balances, well and badly built, that nothing was chosen on."""
    from companion.lab.bench import balance, balance_shells

    balances = max(4, int(4 * seconds))
    yield from balance.rows(balances, seed=90_000)
    yield from balance_shells.rows(balances, seed=90_000)


def bench_vision(seconds: float) -> Iterable[Row]:
    """Measure marker corners, rectification and the idle watcher on rendered tables."""
    del seconds
    from companion.lab.bench.vision.tables import measure

    for what, value in measure().items():
        yield row(what, value, note="rendered tables")
    from companion.lab.bench.vision.cards import measure as measure_cards

    for what, value in measure_cards().items():
        yield row(what, value, note="rendered cards, of art that the finder was not tuned on")
    from companion.lab.bench.vision.placings import measure as measure_placings

    for what, value in measure_placings().items():
        yield row(what, value, note="rendered rounds, followed while everybody places igloos")
    from companion.lab.bench.vision.checks import measure as measure_checks

    for what, value in measure_checks().items():
        yield row(what, value, note="rendered checks, followed while igloos are turned over")
    from companion.lab.bench.vision.rivers import measure as measure_rivers

    for what, value in measure_rivers().items():
        yield row(what, value, note="a rendered game with a River, followed turn by turn")


def bench_readers(seconds: float, boards: Path | None = None) -> Iterable[Row]:
    """Teach the product's reader and others the same four boards; one rendered game for each five seconds."""
    from companion.lab.bench.vision.readers import compare, folder_set, rendered_sets

    sets = [folder_set(boards)] if boards is not None else rendered_sets(max(1, round(seconds / 5)))
    for one in sets:
        yield from compare(one)


def bench_web(seconds: float, beside: Path | None = None) -> Iterable[Row]:
    """Measure latency to many phones, memory, start and weight of the real service with a simulated igloo."""
    from companion.lab.bench.web import rows
    from companion.lab.soak.flood import OTHER

    if beside is not None:
        for entry in rows(seconds, beside):
            yield {**entry, "what": f"{OTHER}{entry['what']}"}
    yield from rows(seconds)


def bench_install(seconds: float) -> Iterable[Row]:
    """Install, start, upgrade and uninstall in a bare Bookworm and a bare Trixie, where run as root."""
    from companion.lab.bench.install import rows

    yield from rows(seconds)


def bench_small(seconds: float) -> Iterable[Row]:
    """Run the service with a tenth of a core and 400 MB, where run as root: what a small machine would feel."""
    from companion.lab.bench.small_machine import rows

    yield from rows(max(20.0, seconds))


def bench_soak(seconds: float) -> Iterable[Row]:
    """Kill, cut, flood and fill the service, and watch its memory; `make soak` runs it for an hour."""
    from companion.lab.soak.command import rows

    yield from rows(seconds)


def bench_flood(seconds: float, beside: Path | None = None) -> Iterable[Row]:
    """Flood the service with photos that are bombs, half-sent bodies and streams, and tap meanwhile."""
    from companion.lab.soak.flood import rows

    yield from rows(seconds, beside)


def bench_plug(seconds: float) -> Iterable[Row]:
    """Pull the plug at moments of an evening on a recorded card, 20 for each second of a timed run; needs root."""
    from companion.lab.soak.plug import rows

    yield from rows(max(20, round(20 * seconds)))


TABLES: dict[str, Callable[[float], Iterable[Row]]] = {
    "rules": bench_rules,
    "turns": bench_turns,
    "igloo": bench_igloo,
    "shake": bench_shake,
    "balance": bench_balance,
    "vision": bench_vision,
    "readers": bench_readers,
    "track": bench_track,
    "follow": bench_follow,
    "load": bench_load,
    "web": bench_web,
    "install": bench_install,
    "small": bench_small,
    "soak": bench_soak,
    "flood": bench_flood,
    "plug": bench_plug,
}
NAMED_ONLY = frozenset({"install", "small", "soak", "flood", "plug", "readers", "load"})
"""What takes root, a network or long is run when it is named, not among all."""


@click.command()
@click.argument("tables", nargs=-1, type=click.Choice(list(TABLES)))
@click.option("--seconds", default=10.0, show_default=True, help="Length of each timed run.")
@click.option(
    "--games",
    type=click.IntRange(min=0),
    default=0,
    help="With the rules: so many random complete games of each game and number of players, every state looked at.",
)
@click.option(
    "--pictures",
    type=click.Path(file_okay=False, path_type=Path),
    help="With shake: draw into this folder how well each number of beads is told, and how far it can be trusted.",
)
@click.option(
    "--igloos",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="With shake: count so many fresh simulated igloos, as shipped and calibrated; 100 of them take an hour.",
)
@click.option(
    "--boards",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="With readers: a folder with layout.toml, photos and what lies on each, instead of rendered boards.",
)
@click.option(
    "--beside",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="With web and flood: the Python of another version's environment, measured in the same run.",
)
@click.option(
    "--game",
    type=click.Choice(FOLLOWED),
    default=FOLLOWED[0],
    show_default=True,
    help="With follow: which rendered game is followed.",
)
@click.option(
    "--world",
    type=click.Choice(WORLDS),
    default=WORLDS[0],
    show_default=True,
    help="With follow: what draws the game; traced needs Debian's package povray.",
)
@click.option("--seed", type=click.IntRange(min=0), help="With follow: another game, art, lamp and camera.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(
    *,
    tables: tuple[str, ...],
    seconds: float,
    games: int,
    pictures: Path | None,
    igloos: int,
    boards: Path | None,
    beside: Path | None,
    game: str,
    world: str,
    seed: int | None,
    as_json: bool,
) -> int:
    """Print speed and accuracy tables; without a name, all but install, small, soak, flood, plug, readers and load.

    Exit status 1: a random game broke a rule.
    """
    # As in `companion serve`: numpy's threads would wait for each other, and be measured.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if games and tables and "rules" not in tables:
        raise click.UsageError("--games goes with the table rules.")
    if pictures and tables and "shake" not in tables:
        raise click.UsageError("--pictures goes with the table shake.")
    if boards and "readers" not in tables:
        raise click.UsageError("--boards goes with the table readers.")
    if beside and not {"web", "flood"} & set(tables):
        raise click.UsageError("--beside goes with the tables web and flood.")
    if world != WORLDS[0] and game not in TRACED:
        raise click.UsageError(f"Only {', '.join(TRACED[:-1])} and {TRACED[-1]} are {world}.")
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    console = Console()
    if not as_json:
        console.print(f"{platform.machine()} · Python {platform.python_version()} · this machine, not a Raspberry Pi")
    broken = 0
    for name in tables or tuple(table for table in TABLES if table not in NAMED_ONLY):
        entries = TABLES[name](seconds)
        if name == "shake":
            entries = bench_shake(seconds, igloos)
        elif name == "readers":
            entries = bench_readers(seconds, boards)
        elif name == "follow":
            entries = bench_follow(seconds, game, world, seed)
        elif name == "web":
            entries = bench_web(seconds, beside)
        elif name == "flood":
            entries = bench_flood(seconds, beside)
        _print(console, name, entries, as_json)
        if name == "rules" and games:
            broken = sum(entry["value"] for entry in _print(console, "games", _with_progress(games), as_json))
        if name == "shake" and pictures:
            from companion.lab.bench.shake import draw

            for file, what in draw(pictures):
                click.echo(f"{file}: {what}", err=as_json)
    return 1 if broken else 0


def _print(console: Console, name: str, entries: Iterable[Row], as_json: bool) -> list[Row]:
    rows = []
    for entry in entries:
        rows.append(entry)
        if as_json:
            click.echo(json.dumps({"table": name, **entry}, ensure_ascii=False))
    if not as_json:
        table = Table(title=name, title_justify="left")
        for heading in ("what", "value", "unit", "aim", "note"):
            table.add_column(heading, justify="right" if heading == "value" else "left", overflow="fold")
        for entry in rows:
            table.add_row(*(str(entry[key]) for key in ("what", "value", "unit", "aim", "note")))
        console.print(table)
    return rows


def _with_progress(games: int) -> Iterator[Row]:
    """Play the random games with a bar on the standard error; it is drawn on a terminal only."""
    err = Console(stderr=True)
    with Progress(console=err, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=games * len(every_table()))
        yield from bench_games(games, lambda what: bar.update(task, advance=1, description=what))
