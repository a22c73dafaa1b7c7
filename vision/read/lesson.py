"""A lesson: everything that a taught table knows, learnt anew from its shots.

What is seen as a whole, how things are counted, and what strange things look like is learnt beside the rest, by two
processes of their own where there is more than one core; what comes of it is the same.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from vision.board.features import describe, find_vocabulary
from vision.board.patches import Sampler
from vision.learn.augment import make_examples, make_views
from vision.learn.classifier import network_of, train
from vision.learn.count_marks import may_be_marked, no_marks, train_marks
from vision.learn.count_shapes import find_table, sorts_of, train_shapes
from vision.learn.cutouts import LabelledBoard, find_cutouts, taught_places
from vision.learn.outlier_score import Strangers, train_strangeness
from vision.learn.synthetic_unknowns import make_strangers
from vision.learn.whole_contents import train_whole, views_of
from vision.read.height import find_height, raised
from vision.read.reader import common_light
from vision.read.tokens import TokenReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from numpy.typing import NDArray

    from vision.read.profile import Profile, TaughtPhoto

    Arrays = dict[str, NDArray[Any]]

T = TypeVar("T")


def learn(profile: Profile, *, seed: int = 0, size: float = 1.0, fork: bool = False) -> Profile:
    """Return the profile with a network learnt from its shots; takes some seconds.

    ``size`` scales how many examples are learnt from. ``fork``: parts are learnt by further processes, if cores
    are there for them; only for a process without threads.
    """
    sampler = Sampler(profile.layout)
    height = find_height(sampler, profile.shots)
    shots, _ = common_light(sampler, raised(sampler, profile.shots, height))
    taught = [LabelledBoard(shot.straight, dict(shot.contents)) for shot in shots]
    patches = np.concatenate([sampler.cut(board.straight, sorted(board.contents)) for board in taught])
    known: Arrays = {**find_vocabulary(patches, seed), "height": np.array(height, np.float32)}
    cutouts = find_cutouts(sampler, taught, taught_places(taught))

    def apart() -> tuple[Arrays, Strangers]:
        contents = [content for board in taught for content in board.contents.values()]
        views = make_views(sampler, taught, views_of(contents, size), seed)
        whole = train_whole(describe(views.patches, known), views, single=max(profile.layout.most, default=1) <= 1)
        strange = make_strangers(sampler, taught, cutouts, seed, size)
        return whole, Strangers(*(describe(patches, known) for patches in strange))

    fork = fork and len(os.sched_getaffinity(0)) > 1
    with _beside(apart, fork=fork) as learnt_apart:
        examples = make_examples(sampler, taught, cutouts, seed, size)
        table = find_table(sampler, taught, cutouts, sorts_of(profile.layout))

        def counting() -> Arrays:
            return train_shapes(examples, table, profile.layout, seed) | _marks(sampler, shots)

        with _beside(counting, fork=fork) as learnt_counting:
            features, rng = describe(examples.patches, known), np.random.default_rng(seed)
            arrays = known | train(features, examples, profile.layout, rng)
            whole, strangers = learnt_apart()
            arrays |= whole | train_strangeness(features, examples, strangers, rng) | learnt_counting()
    return profile.learnt(network_of(arrays, profile.layout), profile.shots)


@contextmanager
def _beside(work: Callable[[], T], *, fork: bool) -> Iterator[Callable[[], T]]:
    """Give what waits for the work, which a process of its own does meanwhile if it is to ``fork``."""
    if not fork:
        yield work
        return
    context = multiprocessing.get_context("fork")
    mine, other = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(mine, other, work), daemon=True)
    try:
        process.start()
        other.close()
        yield mine.recv
    finally:
        mine.close()
        if process.pid is not None:
            process.terminate()
            process.join()


def _send(parents: Connection, to: Connection, work: Callable[[], T]) -> None:
    # Whoever writes where nobody reads any more is to be told so.
    parents.close()
    to.send(work())


def _marks(sampler: Sampler, shots: Sequence[TaughtPhoto]) -> Arrays:
    """Learn to count what may be printed: things without a colour.

    Three crowns are three crowns, whether the layout has them as a number or as a value: where marks tell the values,
    they are not read as tokens' are.
    """
    layout = sampler.layout
    sorts = sorts_of(layout)
    if not may_be_marked(layout):
        return no_marks(sorts)
    tokens = TokenReader(sampler, shots)
    read = {t for kind, things in enumerate(layout.valued) if tokens.reads(kind) for t in things}
    wanted = [layout.things[s.things[0]].colour is None for s in sorts]
    taught = [(shot.close, shot.contents) for shot in shots]
    return train_marks(layout, sorts, taught, wanted, [s.things[0] in read for s in sorts])
