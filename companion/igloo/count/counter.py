"""How many beads are in a shaken igloo, as a distribution that knows what it does not know.

:class:`Counter` hears a stream and answers while the shaking goes on; :func:`count_recording` takes a whole shake. Both
gather the same blocks (:mod:`companion.igloo.count.features`), use only those in which the igloo was shaken, and ask
the same model: a file of small networks with its data card, read with numpy alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.count import MODEL
from companion.igloo.count.convnet import CELL, FEWEST, BeadNet, NetInput, pack, prepare, unpack
from companion.igloo.count.ensemble import Embedding, Ensemble, Net
from companion.igloo.count.features import BLOCK_S, CELLS, ROW, FeatureStream, rhythm, summarise, tier_of
from companion.igloo.count.not_a_shake import why_not_a_shake
from companion.igloo.count.signal_validity import (
    METRES,
    NOT_ONE_G,
    TOO_SLOW,
    WRONG_SCALE,
    in_g,
    rests_wrong,
    scale_of,
    unsound,
)
from companion.ports import COUNTS, BadDataError, CountPosterior, DeviceKind, Samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    SmallArray = NDArray[np.float32]
    CalibratedModel = Callable[["Embedding", CountPosterior], CountPosterior]

SHAKING_G = 0.12
"""Spread of the motion over two blocks from which on the hand does something."""
FEWEST_TURNS = 2.5
FEWEST_TURNS_PER_S = 2.0
SHORTEST_S = 2 * BLOCK_S
SURE_S = 1.5
"""Shaking from which on the answer is *counted*, however flat; before, only where one count has most of it."""
SURE_P = 0.6
TOO_STRANGE = 1.3
"""How far beyond the border of known shakes one must lie to be refused; one in 500 known ones lies beyond 1."""
LONGEST_BLOCKS = 62
"""Ten seconds; older blocks of a long shake are dropped."""
HEARD_BLOCKS = 25
"""Four seconds: of a longer shake the bead networks hear the last of it only, which keeps a stream cheap."""
PAUSE_BLOCKS = 4
"""A longer pause ends a shake."""
BRIDGE_S = 0.3
"""A known gap of samples that a shake survives; what is missing is not counted as heard."""

SHAKE_ON = "Keep shaking: this is only a first guess."
NO_SHAKE = "This is not shaking: it must go to and fro."
STILL = "Nothing is being shaken here."
STRANGE = "This is unlike any shaken beads that the counter knows."
TOO_SHORT = "There is too little shaking: half a second is needed."
LOST = "Samples were lost in this shake; what is missing was left out."
LOST_MANY = "Too many samples were lost in this shake; it is counted from there on."


@dataclass(frozen=True, slots=True)
class CountModel:
    """What counts: networks for each tier of sample rates, how far shakes of one igloo repeat each other, the card."""

    tiers: dict[float, Ensemble]
    repeats: float
    card: dict[str, Any]

    @classmethod
    def load(cls, path: Path = MODEL) -> CountModel:
        """Read a model file.

        :raises BadDataError: when it is missing or is none, in one sentence.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                card = json.loads(str(arrays["card"]))
                tiers = {}
                for tier in card["tiers"]:
                    name = f"{tier:.0f}"
                    nets = []
                    for k in range(card["nets"]):
                        layers = [
                            (
                                arrays[f"{name}/{k}/{i}/weights"].astype(np.float64),
                                arrays[f"{name}/{k}/{i}/biases"].astype(np.float64),
                            )
                            for i in range(card["layers"])
                        ]
                        nets.append(Net(tuple(layers)))
                    tiers[float(tier)] = Ensemble(
                        arrays[f"{name}/middle"].astype(np.float64),
                        arrays[f"{name}/scale"].astype(np.float64),
                        tuple(nets),
                        float(arrays[f"{name}/stretch"]),
                        _square(arrays[f"{name}/gram"], len(arrays[f"{name}/middle"])),
                        float(arrays[f"{name}/strange"]),
                        tuple(
                            BeadNet(unpack({w: arrays[f"{name}/ear{k}/{w}"] for w in card["ear_weights"]}))
                            for k in range(card["listeners"][name])
                        ),
                        float(arrays[f"{name}/trust"]),
                    )
        except (OSError, KeyError, ValueError, EOFError) as error:
            raise BadDataError(f"{path.name} is no model of the bead counter.") from error
        return cls(tiers, float(card["repeats"]), card)

    def save(self, path: Path) -> None:
        """Write the model, whole or not at all."""
        arrays: dict[str, Any] = {"card": np.asarray(json.dumps(self.card, ensure_ascii=False))}
        for tier, ensemble in self.tiers.items():
            name = f"{tier:.0f}"
            arrays[f"{name}/middle"] = ensemble.middle.astype(np.float32)
            arrays[f"{name}/scale"] = ensemble.scale.astype(np.float32)
            arrays[f"{name}/stretch"] = np.asarray(ensemble.stretch)
            arrays[f"{name}/gram"] = ensemble.gram[np.triu_indices(len(ensemble.gram))].astype(np.float16)
            arrays[f"{name}/strange"] = np.asarray(ensemble.strange)
            arrays[f"{name}/trust"] = np.asarray(ensemble.trust)
            for k, bead_net in enumerate(ensemble.bead_nets):
                for key, value in pack(bead_net.weights).items():
                    arrays[f"{name}/ear{k}/{key}"] = value
            for k, net in enumerate(ensemble.nets):
                for i, (weights, biases) in enumerate(net.layers):
                    arrays[f"{name}/{k}/{i}/weights"] = weights.astype(np.float16)
                    arrays[f"{name}/{k}/{i}/biases"] = biases.astype(np.float16)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        with part.open("wb") as file:
            np.savez_compressed(file, **arrays)
        part.replace(path)


def _square(half: NDArray[np.float16], size: int) -> FloatArray:
    """Return the symmetric matrix (size, size) of its upper half."""
    square = np.zeros((size, size))
    square[np.triu_indices(size)] = half
    return square + np.triu(square, 1).T


@cache
def shipped() -> CountModel:
    """Return the model that comes with the companion, read once."""
    return CountModel.load()


def embed(accel: FloatArray, rate_hz: float, *, model: CountModel | None = None) -> Embedding | None:
    """Return what the counter makes of one shake, ``accel`` (n, 3) in g at the true ``rate_hz`` of 760 Hz or more.

    Of 0.5 s or longer; of a long shake the last ten seconds count. As :func:`count_recording`, only blocks in which the
    hand did something are used; None where they are fewer than three. The samples must be sound
    (:func:`companion.igloo.count.signal_validity.unsound`), which is not asked again here.

    :raises ValueError: when the rate is too low.
    """
    model = model or shipped()
    stream = FeatureStream(rate_hz)
    stream.feed(np.asarray(accel, dtype=np.float64))
    active = active_blocks(stream.cells)
    rows, cells = stream.rows[active][-LONGEST_BLOCKS:], stream.cells[active][-LONGEST_BLOCKS:]
    if len(rows) < 3:
        return None
    sounds = [sound for sound, there in zip(stream.sounds, active, strict=True) if there]
    return embed_blocks(model.tiers[stream.tier], stream.tier, rows, cells, sounds)


def embed_blocks(
    ensemble: Ensemble, tier: float, rows: FloatArray, cells: FloatArray, sounds: Sequence[SmallArray] = ()
) -> Embedding:
    """Return what an ensemble makes of the active blocks of one shake, three or more.

    ``rows`` (m, ROW), ``cells`` (m, CELLS, 5) and ``sounds`` (m times (samples, 6)) are as
    :class:`~companion.igloo.count.features.FeatureStream` gives them.
    """
    features = summarise(rows, cells)[None]
    layers = ensemble.last_layers(features, hear(ensemble, sounds))
    p = ensemble.answer(*ensemble.says(layers))[0]
    return Embedding(
        features=ensemble.standard(features)[0],
        hidden=np.concatenate([np.zeros(0), *(layer[0] for layer in layers[len(ensemble.nets) :])]),
        mu=float(p @ np.log(np.arange(COUNTS.start, COUNTS.stop))),
        p=p,
        seconds=len(rows) * BLOCK_S,
        tier=tier,
    )


class Counter:
    """Counts the beads of one igloo from its stream. A new shake begins after a pause; nothing is kept from the last.

    A shake that lost samples says so, and is counted from what was heard; after a larger or unknown loss it starts
    anew. ``calibrated``, if there is one, is what is known of this igloo by calibration; it may be changed at any time.
    """

    def __init__(
        self, key: str, kind: DeviceKind, model: CountModel | None = None, calibrated: CalibratedModel | None = None
    ) -> None:
        self.key = key
        self.kind = kind
        self.calibrated = calibrated
        self._model = model or shipped()
        self._stream: FeatureStream | None = None
        self._shake = _Shake()
        self._last: FloatArray | None = None  # the motion of the block before
        self._reported: tuple[str, str] = ("", "")
        self._reported_t = -1e9
        self._block_end = 0.0
        self._raw: list[FloatArray] = []
        self._rests_wrong = False

    def feed(self, samples: Samples) -> CountPosterior | None:
        """Take a run of samples; return an answer when there is a new one, about four times a second at most."""
        rate = samples.rate_hz
        end = samples.t0 + len(samples.accel) / rate
        if tier_of(rate) is None:
            return self._once("bad-data", TOO_SLOW, end)
        accel = np.asarray(samples.accel, dtype=np.float64)
        if not np.isfinite(accel).all():
            self._new_shake()
            return self._once("bad-data", unsound(accel, rate), end)
        stream = self._stream
        if stream is None or abs(stream.rate_hz / rate - 1) > 0.01 or stream.tier != tier_of(rate):
            stream = self._stream = FeatureStream(rate)
            self._new_shake()
        if samples.gap_before or samples.overflow_before:
            self._gap(samples.gap_before / rate, known=not samples.overflow_before)
        self._raw.append(accel)
        answer = None
        if stream.feed(accel):
            heard, self._raw = np.concatenate(self._raw), []
            rows, cells = stream.rows, stream.cells
            sounds = stream.sounds
            stream.forget(0)
            ensemble = self._model.tiers[stream.tier]
            wrong = unsound(heard, rate)
            last = end - stream.waiting / rate
            for i, (row, cell, sound) in enumerate(zip(rows, cells, sounds, strict=True)):
                t = last - (len(rows) - 1 - i) * stream.block / rate
                answer = self._block(ensemble, row, cell, sound, wrong, t) or answer
        return answer

    def _new_shake(self) -> None:
        self._shake = _Shake()
        self._last = None
        self._raw = []

    def _gap(self, seconds: float, *, known: bool) -> None:
        """Deal with missing samples: bridge a short known gap, begin anew after anything else."""
        if self._stream:
            self._stream.restart()
        self._raw = []
        self._last = None
        if known and seconds <= BRIDGE_S:
            if self._shake.rows:
                self._shake.note = LOST
            return
        note = LOST_MANY if self._shake.rows else ""
        self._new_shake()
        self._shake.note = note

    def _block(
        self, ensemble: Ensemble, row: FloatArray, cell: FloatArray, sound: SmallArray, wrong: str, t: float
    ) -> CountPosterior | None:
        """Take one block, in which ``wrong`` was found or nothing; answer where there is something new to say."""
        shake = self._shake
        active = strength(cell, self._last) > SHAKING_G
        self._last = cell
        if not active:
            self._rests_wrong = rests_wrong(cell[None, :, :3], before=self._rests_wrong)
            shake.pause += 1
            if shake.rows and shake.pause == PAUSE_BLOCKS:
                self._new_shake()
            return None
        shake.pause = 0
        shake.rows.append(row)
        shake.cells.append(cell)
        shake.wrong.append(wrong)
        shake.sounds.append(sound)
        del shake.rows[:-LONGEST_BLOCKS], shake.cells[:-LONGEST_BLOCKS], shake.wrong[:-LONGEST_BLOCKS]
        del shake.sounds[:-HEARD_BLOCKS]
        if len(shake.rows) >= 3 and 2 * sum(map(bool, shake.wrong)) > len(shake.rows):
            # Also where the last block, in which the hand comes to rest, looks sound.
            return self._once("bad-data", next(w for w in reversed(shake.wrong) if w), t)
        if shake.seconds > 0.9 and not in_g(np.asarray(shake.cells).reshape(-1, 5)[:, :3], shake.seconds):
            return self._once("bad-data", WRONG_SCALE, t)
        if self._rests_wrong:
            return self._once("bad-data", NOT_ONE_G, t)
        if t - self._reported_t < 0.2:
            return None
        answer = judge(ensemble, shake.rows, shake.cells, shake.sounds)
        if answer is None:
            return None
        if answer.p and self.calibrated and self._stream:
            lately = slice(-HEARD_BLOCKS, None)
            rows, cells = np.asarray(shake.rows[lately]), np.asarray(shake.cells[lately])
            answer = self.calibrated(embed_blocks(ensemble, self._stream.tier, rows, cells, shake.sounds), answer)
        if not answer.p:
            # The hand that stops is unlike shaking; what was counted before stands.
            return None if self._reported[0] == "counted" else self._once(answer.state, answer.why, t)
        self._reported, self._reported_t = (answer.state, ""), t
        return replace(answer, why=shake.note or answer.why, key=self.key, kind=self.kind, t=t)

    def _once(self, state: str, why: str, t: float) -> CountPosterior | None:
        """Answer without a count, but not the same again and again: every 2 s at most."""
        if self._reported == (state, why) and t - self._reported_t < 2.0:
            return None
        self._reported, self._reported_t = (state, why), t
        return CountPosterior(state, (), self._shake.seconds, why, self.key, self.kind, t)


class _Shake:
    """The blocks of the present shake."""

    def __init__(self) -> None:
        self.rows: list[FloatArray] = []
        self.cells: list[FloatArray] = []
        self.sounds: list[SmallArray] = []
        self.wrong: list[str] = []
        self.pause = 0
        self.note = ""

    @property
    def seconds(self) -> float:
        return len(self.rows) * BLOCK_S


def strength(cell: FloatArray, before: FloatArray | None) -> float:
    """Return the spread of motion (g) in a block's cells (CELLS, 5) and those of the block before it, if any."""
    motion = cell[:, :3] if before is None else np.concatenate([before[:, :3], cell[:, :3]])
    return float(np.sqrt(motion.var(axis=0).sum()))


def active_blocks(cells: FloatArray) -> NDArray[np.bool_]:
    """Tell for each block, given cells (m, CELLS, 5) in a row, whether the hand did something, as a stream would."""
    found = [strength(cells[i], cells[i - 1] if i else None) > SHAKING_G for i in range(len(cells))]
    return np.array(found, dtype=np.bool_)


def hear(ensemble: Ensemble, sounds: Sequence[SmallArray]) -> list[NetInput]:
    """Return what an ensemble's bead networks hear of the blocks of one shake, if it has any."""
    return [prepare(sounds[-HEARD_BLOCKS:], ensemble.bead_nets[0].cell)] if ensemble.bead_nets else []


def judge(
    ensemble: Ensemble, rows: Sequence[FloatArray], cells: Sequence[FloatArray], sounds: Sequence[SmallArray]
) -> CountPosterior | None:
    """Answer for the active blocks of one shake; None while there is nothing to say yet.

    ``sounds`` are those of the blocks.
    """
    seconds = len(rows) * BLOCK_S
    fewest = FEWEST * ensemble.bead_nets[0].cell // CELL if ensemble.bead_nets else 0
    if seconds < SHORTEST_S - 1e-9 or sum(map(len, sounds)) < fewest:
        return None
    stacked = np.asarray(cells).reshape(-1, CELLS, 5)
    _, _, turns = rhythm(stacked)
    if turns * seconds < FEWEST_TURNS or turns < FEWEST_TURNS_PER_S:
        return CountPosterior("not-a-shake", (), seconds, NO_SHAKE) if seconds > 1.2 else None
    why = why_not_a_shake(sounds[-HEARD_BLOCKS:])
    if why and seconds >= SURE_S:
        return CountPosterior("not-a-shake", (), seconds, why)
    features = summarise(np.asarray(rows).reshape(-1, ROW), stacked)[None]
    if seconds >= SURE_S and float(ensemble.strangeness(features)[0]) > TOO_STRANGE:
        return CountPosterior("not-a-shake", (), seconds, STRANGE)
    p = ensemble.posterior(features, hear(ensemble, sounds))[0]
    sure = not why and (seconds >= SURE_S or (seconds >= 0.45 and float(p.max()) >= SURE_P))
    posterior = tuple(float(value) for value in p / p.sum())
    return CountPosterior("counted" if sure else "more", posterior, seconds, "" if sure else SHAKE_ON)


def count_recording(
    accel: FloatArray,
    rate_hz: float,
    *,
    model: CountModel | None = None,
    key: str = "",
    kind: DeviceKind = DeviceKind.RECORDED,
) -> CountPosterior:
    """Count the beads of one recorded shake, ``accel`` (n, 3) in g at the true ``rate_hz``.

    Values in m/s² are recognised and converted, and the answer says so.
    """
    whole = Samples(np.asarray(accel, dtype=np.float64), 0.0, rate_hz, 0)
    return count_runs([whole], model=model, key=key, kind=kind)


def count_runs(
    runs: Iterable[Samples], *, model: CountModel | None = None, key: str = "", kind: DeviceKind = DeviceKind.RECORDED
) -> CountPosterior:
    """Count the beads of one shake that came in runs; gaps between them are left out."""
    model = model or shipped()
    parts = [run for run in runs if len(run.accel)]

    def answer(state: str, why: str, p: tuple[float, ...] = (), seconds: float = 0.0) -> CountPosterior:
        return CountPosterior(state, p, seconds, why, key, kind)

    if not parts:
        return answer("not-a-shake", TOO_SHORT)
    rate = parts[0].rate_hz
    whole = np.concatenate([run.accel for run in parts])
    note = LOST if len(parts) > 1 or parts[0].gap_before else ""
    if wrong := unsound(whole, rate):
        return answer("bad-data", wrong)
    scale = scale_of(whole)
    if scale is None:
        return answer("bad-data", WRONG_SCALE)
    if scale != 1.0:
        note = METRES
    rows: list[FloatArray] = []
    cells: list[FloatArray] = []
    sounds: list[SmallArray] = []
    for run in parts:
        stream = FeatureStream(rate)
        stream.feed(run.accel * scale)
        active = active_blocks(stream.cells)
        if rests_wrong(stream.cells[~active, :, :3]):
            return answer("bad-data", NOT_ONE_G)
        rows += list(stream.rows[active])
        cells += list(stream.cells[active])
        sounds += [sound for sound, there in zip(stream.sounds, active, strict=False) if there]
    if not rows:
        return answer("not-a-shake", STILL)
    found = judge(model.tiers[stream.tier], rows[-LONGEST_BLOCKS:], cells[-LONGEST_BLOCKS:], sounds)
    if found is None:
        return answer("not-a-shake", TOO_SHORT if len(rows) * BLOCK_S < 1.0 else NO_SHAKE, (), len(rows) * BLOCK_S)
    return answer(found.state, found.why if not found.p else note or found.why, found.p, found.seconds)


def together(answers: Sequence[CountPosterior], *, model: CountModel | None = None) -> CountPosterior:
    """Return one answer for several shakes of the same igloo, whose errors partly repeat each other.

    The log probabilities are added, but k shakes weigh as k / (1 + (k - 1) r) with the model's ``repeats`` r.
    """
    model = model or shipped()
    known = [one for one in answers if one.p]
    if not known:
        return answers[0] if answers else CountPosterior("not-a-shake", (), 0.0, TOO_SHORT)
    log_p = np.log(np.array([one.p for one in known])).sum(axis=0) / (1 + (len(known) - 1) * model.repeats)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    seconds = sum(one.seconds for one in known)
    state = "counted" if any(one.state == "counted" for one in known) or seconds >= SURE_S else "more"
    return replace(known[-1], state=state, p=tuple(float(v) for v in p), seconds=seconds, why="")


def chance(posterior: CountPosterior, numbers: Iterable[int]) -> float:
    """Return the probability that the count is one of a card's numbers.

    >>> flat = CountPosterior("counted", (1 / 12,) * 12)
    >>> round(chance(flat, (4, 5)), 4)
    0.1667
    """
    wanted = set(numbers)
    return sum(p for n, p in zip(COUNTS, posterior.p, strict=False) if n in wanted)
