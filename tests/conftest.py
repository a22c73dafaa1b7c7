"""Fixtures that every room's tests share."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.suite import ids, kinds
from tests.worlds import sizes
from tests.worlds.served import Served

if TYPE_CHECKING:
    from companion.lab.worlds.table import Picture

# As the service does: small arrays, and workers that share the cores. Read when numpy is imported: nothing above may.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Timings belong in benchmarks: a slow machine fails no property. Found examples are not kept between runs.
settings.register_profile("house", deadline=None, database=None, derandomize=True)
settings.load_profile("house")

if threading.gettrace() is not None:
    # Coverage has every thread traced. CPython 3.11 lets no two begin so in the same moment, and the second would end
    # before it has done anything: it begins again.
    _begin = sys.settrace

    def _begin_again(function: Any) -> None:
        while True:
            with contextlib.suppress(RuntimeError):
                _begin(function)
                return

    sys.settrace = _begin_again

WATCH = pytest.StashKey[kinds.Watch]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("the suite of the companion")
    group.addoption("--long", action="store_true", help="the larger sizes of `make test-long`")
    group.addoption(
        "--crossed", action="store_true", help="browser tests dark where they are light, and light where dark"
    )
    group.addoption("--junk", type=int, metavar="N", help="requests of each kind to each route of the API")
    group.addoption("--shots", metavar="FOLDER", help="an existing folder for screenshots, for people to look at")


def pytest_configure(config: pytest.Config) -> None:
    for name, says in kinds.KINDS.items():
        config.addinivalue_line("markers", f"{name}: {says}")
    sizes.choose(config.getoption("--long"))
    config.stash[WATCH] = kinds.Watch()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[ids.COLLECTED] = [item.nodeid for item in items]
    wrong, order = [], {}
    for item in items:
        try:
            kind = kinds.kind_of({mark.name for mark in item.iter_markers()}, item.path)
        except kinds.KindError as error:
            wrong.append(f"{item.nodeid} {error}")
        else:
            item.add_marker(kind)
            if "axe" in getattr(item, "fixturenames", ()) and not _is_dark_at_times(item):
                item.add_marker("colours")
            order[item] = list(kinds.KINDS).index(kind)
    if wrong:
        raise pytest.UsageError("\n".join(wrong))
    # What takes long begins first, so that at the end all workers have something to do.
    items.sort(key=order.__getitem__, reverse=True)


def _is_dark_at_times(item: pytest.Item) -> bool:
    """Whether a test takes its theme as a parameter: then it looks at both by itself."""
    return isinstance(item, pytest.Function) and hasattr(item, "callspec") and "dark" in item.callspec.params


def pytest_collection_finish() -> None:
    # What thousands of tests are made of lives to the end: the collector need not look through it again and again.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    watch = item.config.stash[WATCH]
    watch.kind = kinds.kind_of({mark.name for mark in item.iter_markers()}, item.path)
    try:
        return (yield)
    finally:
        watch.kind = ""


@pytest.fixture
def simavr() -> Iterator[Callable[..., Any]]:
    """A maker of igloos in simavr (:mod:`companion.lab.worlds.simavr`); what it made is stopped when the test ends."""
    from companion.lab.worlds.simavr import Simavr

    with contextlib.ExitStack() as stack:

        def maker(*arguments: Any, **options: Any) -> Any:
            igloo = Simavr(*arguments, **options)
            stack.callback(igloo.stop)
            return igloo

        yield maker


@pytest.fixture(scope="module")
def prompt_lessons() -> Iterator[None]:
    """Let lessons stand back behind nobody: one that does may, on a busy machine, never come to its end."""
    from vision.read import learn_process

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learn_process, "NICE", 0)
        yield


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """What writes the files of a further language once: ``whole``, ``empty`` (a catalogue alone, without words)."""
    from tests.worlds import pseudo

    made: dict[str, Path] = {}

    def write(kind: str) -> Path:
        if kind not in made:
            folder = made[kind] = tmp_path_factory.mktemp(kind)
            pseudo.write_catalogue(folder / "translations", empty=kind == "empty")
            if kind == "whole":
                pseudo.write_clauses(folder / "clauses")
        return made[kind]

    return write


@pytest.fixture
def speak(written: Callable[[str], Path]) -> Iterator[Callable[[str], None]]:
    """What lets everything look for its languages in the folder of a kind; after the test it is as before."""
    from companion.rules import i18n
    from web.i18n import language

    before = i18n.catalogue_folder(), i18n.clause_folder()

    def forget() -> None:
        for cached in (language._catalogue_file, language._words, language._catalogue):
            cached.cache_clear()

    def look(kind: str) -> None:
        folder = written(kind)
        i18n.look_in(folder / "translations", folder / "clauses" if (folder / "clauses").exists() else i18n.CLAUSES)
        forget()

    yield look
    i18n.look_in(*before)
    forget()


@pytest.fixture
def toy_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An example game in folders of its own, borrowed from another game; its id."""
    import companion.night.games
    import companion.rules

    for package, borrowed in ((companion.rules, "GAME"), (companion.night.games, "VIEW")):
        folder = tmp_path / package.__name__ / "toy_game"
        folder.mkdir(parents=True)
        lines = (f"from {package.__name__}.arctic import {borrowed}", "PLACE = None")
        (folder / "__init__.py").write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder.parent)])
    yield "toy-game"
    for package in (companion.rules, companion.night.games):
        sys.modules.pop(f"{package.__name__}.toy_game", None)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start real services on one folder; all of them end with the test."""
    running: list[Served] = []

    def start(*arguments: str) -> Served:
        served = Served(tmp_path / "data", *arguments)
        running.append(served)
        return served

    yield start
    for served in running:
        served.close()


# Pictures that several tests share: rendering one takes a third of a second.


@pytest.fixture(scope="session")
def still() -> list[Picture]:
    """Four pictures of the same still table; only the sensor's noise differs."""
    from companion.lab.worlds import table

    return [table.standard(seed=seed) for seed in range(4)]


@pytest.fixture(scope="session")
def hidden() -> Picture:
    """The same table with a hand over marker 2."""
    from companion.lab.worlds import table

    return table.standard(seed=9, hidden=True)
