"""`companion rule`: a clause by its id, or the clauses and listed disputes that speak of some words."""

from __future__ import annotations

import click
from rich.text import Text

from companion.cli.printing import STATUS, as_json, console, emit, language
from companion.rules import games
from companion.rules.i18n import Words
from companion.rules.rulebook import Clause, Dispute, Rulebook, look_up, rulebook, rulebooks


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--game", "only", help="Look in the rulebook of one game.")
@language
@as_json
def command(words: tuple[str, ...], only: str | None, lang: str, json_: bool) -> int:
    """Say what the rulebooks say: WORDS is an id such as POP-3.6, or what to look for.

    Exit status 1 when no rulebook speaks of it.
    """
    if only is not None and only not in rulebooks():
        raise click.UsageError(NO_RULEBOOK.filled({"game": only, "there": ", ".join(rulebooks())}).of(lang))
    query = " ".join(words)
    books = [rulebook(name) for name in rulebooks() if only in (None, name)]
    # An example's rulebook answers only to those who name it.
    offered = [book for book in books if only is not None or book.game_id in games()]
    found = [(book, item) for book in books for item in book.by_id(query, exact=True)] or look_up(query, offered, lang)
    if json_:
        for book, item in found:
            emit({"game": book.game_id, **item.to_json(), "disputes": _cited_by(book, item)})
    else:
        for book, item in found:
            _show(book, item, lang)
    if not found:
        click.echo(f"companion: {SILENT.filled({'query': query}).of(lang)}", err=True)
        return 1
    return 0


def _cited_by(book: Rulebook, item: Clause | Dispute) -> list[str]:
    return [d.id for d in book.disputes.values() if isinstance(item, Clause) and item.id in d.clauses]


SEE = Words("see {clauses}")
SILENT = Words("No rulebook mentions {query!r}.")
NO_RULEBOOK = Words("There is no rulebook for {game!r}; there are {there}.")


def _show(book: Rulebook, item: Clause | Dispute, lang: str) -> None:
    out = console()
    head = Text(item.id, style="bold cyan")
    if isinstance(item, Clause):
        where = f"{book.rulebooks[item.rulebook].of(lang)}, {item.heading.of(lang)}"
        head.append(f"  {book.name.of(lang)}  ·  {where}", style="dim")
        body = item.text.of(lang)
    else:
        head.append(f"  {book.name.of(lang)}  ·  {item.question.of(lang)}", style="bold")
        body = item.ruling.of(lang)
    out.print(head)
    out.print(Text("  " + body))
    if isinstance(item, Clause) and item.note.en:
        out.print(Text("  " + item.note.of(lang), style="italic"))
    ground = Text("  " + STATUS[item.status].of(lang), style="green" if item.status == "text" else "yellow")
    if item.option:
        option = book.option(item.option)
        values = " | ".join(f"{value}: {words.of(lang)}" for value, words in option.values.items())
        ground.append(f"\n  option {option.name}: {option.question.of(lang)} {values}")
    refers = _cited_by(book, item) if isinstance(item, Clause) else list(item.clauses)
    if refers:
        ground.append(f"\n  {SEE.filled({'clauses': ', '.join(refers)}).of(lang)}", style="cyan")
    out.print(ground)
    out.print()
