"""An igloo's own shakes: from labelled recordings to a small file that makes the count of this igloo better.

A calibration holds what was heard of the igloo's labelled shakes (numbers, no waveforms) with a data card; the
process of :mod:`companion.igloo.calibration.gaussian_process` makes answers of it. There is one file for each igloo in
a folder, and beside it the one that was there before, so that a calibration can be undone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.calibration.features import Labelled, ShakeFeatures, answered, counted, hear, heard_by
from companion.igloo.calibration.figures import figures_of, left_out
from companion.igloo.calibration.gaussian_process import Known, Prior
from companion.igloo.calibration.outlier import Usual, beyond
from companion.igloo.calibration.sizes import Sizes, of_hands, read, written
from companion.igloo.count.counter import SURE_S, shipped
from companion.igloo.count.ensemble import as_vector
from companion.igloo.count.features import TIERS
from companion.ports import COUNTS, BadDataError, CountPosterior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from companion.igloo.count.counter import CalibratedModel, CountModel
    from companion.igloo.count.ensemble import Embedding
    from companion.igloo.recordings import Recording

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

PRIORS = Path(__file__).with_name("model") / "calibration.npz"
FEWEST_SHAKES, FEWEST_COUNTS = 6, 3
FEW = 24
"""Up to so many shakes the figures are told with a warning."""
BEFORE = ".before"
BEYOND = 0.9
"""From this probability of one bead or none, or fourteen or more, on it is said that this is no igloo of the box."""

NOT_KNOWN = "This igloo has not been calibrated: counted as an unknown one."
UNLIKE = "This does not sound like this igloo: a different container, or fewer than 2 or more than 13 beads?"
ASTRAY = "The motion did not keep to the beat: counted as shaken freely."
OTHER_RATE = "The calibration was made at a different sample rate: counted as an unknown igloo."


@cache
def priors(path: Path = PRIORS) -> dict[tuple[float, bool], Prior]:
    """Return what is known before a calibration, for each (tier of rates, guided or not).

    :raises BadDataError: when the file is missing or is none.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            card = json.loads(str(arrays["card"]))
            return {
                (float(tier), bool(guided)): Prior.of_arrays(arrays, f"{tier:.0f}/{int(guided)}")
                for tier, guided in card["priors"]
            }
    except (OSError, KeyError, ValueError, EOFError) as error:
        raise BadDataError(f"{path.name} is no file of what is known before a calibration.") from error


def _prior(tier: float, *, guided: bool) -> Prior:
    """Return what is known of shakes at this tier, of unguided ones where nothing is known of guided ones.

    :raises BadDataError: when nothing is known at this tier.
    """
    known = priors()
    found = known.get((tier, guided)) or known.get((tier, False))
    if found is None:
        raise BadDataError(f"Nothing is known of shakes at {tier:.0f} Hz: no igloo can be calibrated at this rate.")
    return found


def prior_card(path: Path = PRIORS) -> dict[str, Any]:
    """Return the data card of what is known before a calibration: how it was learnt, what it reaches."""
    with np.load(path, allow_pickle=False) as arrays:
        card: dict[str, Any] = json.loads(str(arrays["card"]))
    return card


@cache
def usual(path: Path = PRIORS) -> Usual | None:
    """Return what shakes usually are like, None where the file does not say."""
    with np.load(path, allow_pickle=False) as arrays:
        return Usual.of_arrays(arrays) if "usual/borders" in arrays else None


@dataclass(frozen=True)
class Calibration:
    """What is known of one igloo: ``vectors`` (n, f + h + 1) of its shakes, with count, hand and whether it was guided.

    ``shake`` numbers the shakes, for a long one has several pieces. ``card`` says how it was made and how good it is.
    ``free_sizes`` and ``beat_sizes`` suit its hands, by their names, as anybody shakes and with the beat.
    """

    device: str
    tier: float
    vectors: FloatArray
    counts: IntArray
    who: tuple[str, ...]
    guided: tuple[bool, ...]
    shake: IntArray
    card: dict[str, Any] = field(default_factory=dict)
    free_sizes: dict[str, Sizes] = field(default_factory=dict)
    beat_sizes: dict[str, Sizes] = field(default_factory=dict)

    @classmethod
    def of_nothing(cls, tier: float) -> Calibration:
        """Return what is known of an igloo that nobody measured."""
        none = np.zeros(0, dtype=np.int64)
        width = len(_prior(tier, guided=False).middle) if tier else 0
        return cls("", tier, np.zeros((0, width)), none, (), (), none)

    @cached_property
    def free(self) -> Known:
        """The process for shakes as anybody shakes."""
        return self._process(guided=False)

    @cached_property
    def beat(self) -> Known:
        """The process for shakes with the metronome; it learns from unguided ones only where there are no others."""
        return self._process(guided=True)

    def _process(self, *, guided: bool) -> Known:
        prior = _prior(self.tier, guided=guided)
        if not len(self.vectors):
            return Known(prior.unmeasured(), self.vectors, self.counts, ())
        use = self._heeded(guided=guided)
        who = [name for name, there in zip(self.who, use, strict=True) if there]
        known = Known(prior, self.vectors[use], self.counts[use], who, partial(counted, self.tier))
        sizes = self.beat_sizes if guided else self.free_sizes
        return known.adapted({name: one.applied(prior) for name, one in sizes.items()})

    def _heeded(self, *, guided: bool) -> NDArray[np.bool_]:
        """Return which pieces a process heeds: all, or those with the beat where some have it."""
        use = np.asarray(self.guided, dtype=np.bool_)
        return use if guided and use.any() else np.ones(len(use), dtype=np.bool_)

    def adapted(self) -> Calibration:
        """Return this calibration with the sizes that suit its hands; each motion's are judged by its own shakes."""
        beat, use = np.asarray(self.guided, dtype=np.bool_), self._heeded(guided=True)
        return replace(
            self,
            free_sizes=of_hands(self.free, self.vectors, self.shake, ~beat),
            beat_sizes=of_hands(self.beat, self.vectors[use], self.shake[use], beat[use]),
        )

    def probabilities(
        self, vectors: FloatArray, who: str = "", hands: Sequence[int] = (), *, guided: bool = False
    ) -> FloatArray:
        """Return the probabilities (12,) of 2 … 13 beads for pieces (k, f + h + 1) of one igloo by one hand.

        Or, where ``hands`` (k) numbers them, by several: hand 0 is that of ``who``, the others are new ones.
        """
        known = self.beat if guided else self.free
        names = [f"?{hand}" if hand else who or "?" for hand in hands or [0] * len(vectors)]
        return known.answer(vectors, names).joined(known.prior.stretch)

    def guided_opinion(self, who: str = "") -> Any:
        """Return what :class:`companion.igloo.count.guided.GuidedCount` asks."""
        return lambda vectors, tier, hands=(): tuple(
            self.probabilities(vectors, who, hands, guided=True) if tier == self.tier else np.full(12, 1 / 12)
        )

    def live_model(self, who: str = "") -> CalibratedModel:
        """Return what makes :class:`companion.igloo.count.counter.Counter` count as this igloo, shaken by ``who``."""

        def calibrated(found: Embedding, plain: CountPosterior) -> CountPosterior:
            if not self.tier or found.tier != self.tier:
                return replace(plain, why=plain.why or OTHER_RATE)
            vectors = as_vector(found, shipped().tiers[found.tier])[None]
            answer = self.free.answer(vectors, [who or "?"], np.array([found.seconds]))
            if found.seconds >= SURE_S and (self.unlike(vectors) > 1 or beyond(answer) > BEYOND):
                return replace(plain, state="not-a-shake", p=(), why=UNLIKE)
            p = tuple(float(value) for value in answer.joined(self.free.prior.stretch))
            return replace(plain, p=p)

        return calibrated

    def count(self, heard: Sequence[ShakeFeatures], who: Sequence[str] = (), *, guided: bool = False) -> CountPosterior:
        """Return one answer for shakes that all have the same number of beads, by hands of these names.

        Shakes of which nothing was heard are left out; where there is no other, the counter's own answer stands.
        """
        names = list(who) or [""] * len(heard)
        use = [(one, name or "?") for one, name in zip(heard, names, strict=True) if len(one.vectors)]
        if not use:
            return heard[0].answer
        shakes = [one for one, _ in use]
        if any(one.tier != self.tier for one in shakes) or not self.tier:
            return answered(shakes, use[-1][0].answer.p, OTHER_RATE)
        astray = guided and not all(one.kept for one in shakes)
        known = self.beat if guided and not astray else self.free
        vectors = np.concatenate([one.vectors for one in shakes])
        each = [name for one, name in use for _ in one.vectors]
        lengths = np.concatenate([one.seconds for one in shakes])
        found = known.answer(vectors, each, lengths)
        if self.unlike(vectors) > 1 or beyond(found) > BEYOND:
            return replace(answered(shakes, (), UNLIKE), state="not-a-shake", why=UNLIKE)
        return answered(shakes, found.joined(known.prior.stretch), ASTRAY if astray else "")

    def unlike(self, vectors: FloatArray) -> float:
        """Return how unlike this igloo (or, where none was measured, any igloo) pieces (k, f + h + 1) are.

        1 is the border. Only at the highest sample rate, elsewhere 0.
        """
        known = usual()
        if known is None or self.tier != TIERS[0]:
            return 0.0
        return known.strangeness(vectors, self.vectors)


# --- making one ----------------------------------------------------------------------------------------------------


def calibrate(
    recordings: Iterable[tuple[str, Recording]],
    *,
    device: str = "",
    person: str = "",
    before: Calibration | None = None,
    model: CountModel | None = None,
) -> list[Calibration]:
    """Return a calibration for each igloo in labelled recordings (name of the file, recording).

    ``device`` and ``person`` name what a recording does not; the shakes of ``before`` are kept beside the new ones.

    :raises BadDataError: in one sentence, when nothing good can come of them.
    """
    gathered: dict[str, list[Labelled]] = {}
    refused: Counter[str] = Counter()
    total = 0
    for name, recording in recordings:
        check_labels(name, recording)
        for i in range(len(recording.shakes)):
            total += 1
            heard = hear(recording.runs(i), model=model, key=name)
            if not len(heard.vectors):
                refused[heard.answer.why] += 1
                continue
            label = recording.device[i] if recording.device else ""
            whose = recording.person[i] if recording.person else ""
            guided = bool(recording.guided and recording.guided[i]) and heard.kept
            one = Labelled(heard, recording.count[i], whose or person, guided)
            gathered.setdefault(label or device, []).append(one)
    if total and 2 * sum(refused.values()) > total:
        why, many = refused.most_common(1)[0]
        raise BadDataError(f"{many} of {total} shakes cannot be used: {why}")
    if not gathered:
        raise BadDataError("There is no shake to calibrate with.")
    made = []
    for label, shakes in gathered.items():
        former = before if before and before.device == label else None
        made.append(of_shakes(label, shakes, former, dict(refused)))
    return made


def check_labels(name: str, recording: Recording) -> None:
    """Ask that every shake says how many beads there were.

    :raises BadDataError: when one does not.
    """
    if not recording.count:
        raise BadDataError(f"{name} does not say how many beads there were (an array called count).")
    for count in recording.count:
        if count not in COUNTS:
            raise BadDataError(f"{name} has a shake of {count} beads; igloos hold {COUNTS[0]} to {COUNTS[-1]}.")


def of_shakes(
    device: str,
    shakes: Sequence[Labelled],
    before: Calibration | None = None,
    refused: dict[str, int] | None = None,
) -> Calibration:
    """Return the calibration of one igloo from labelled shakes, beside those of ``before``.

    :raises BadDataError: when the shakes are too few, of too few counts, or do not fit their labels.
    """
    tiers = Counter(one.heard.tier for one in shakes)
    if len(tiers) > 1 or (before and before.tier not in tiers):
        raise BadDataError("The shakes were recorded at different sample rates; one calibration is for one rate.")
    number = np.repeat(np.arange(len(shakes)), [len(one.heard.vectors) for one in shakes])
    vectors = np.concatenate([one.heard.vectors for one in shakes])
    each = [one for one in shakes for _ in one.heard.vectors]
    counts = np.array([one.count for one in each], dtype=np.int64)
    who = [one.who for one in each]
    guided = [one.guided for one in each]
    if before:
        number = np.concatenate([before.shake, number + int(before.shake.max()) + 1])
        vectors = np.concatenate([before.vectors, vectors])
        counts = np.concatenate([before.counts, counts])
        who, guided = [*before.who, *who], [*before.guided, *guided]
    named = f" of {device}" if device else ""
    many = len(np.unique(number))
    if many < FEWEST_SHAKES:
        raise BadDataError(f"There are only {many} usable shakes{named}; a calibration needs {FEWEST_SHAKES} or more.")
    kinds = sorted({int(count) for count in counts})
    if len(kinds) < FEWEST_COUNTS:
        said = " and ".join(map(str, kinds))
        raise BadDataError(
            f"All shakes{named} are of {said} beads; a calibration needs {FEWEST_COUNTS} different numbers or more."
        )
    made = Calibration(device, next(iter(tiers)), vectors, counts, tuple(who), tuple(guided), number)
    # by the shipped sizes: with sizes of their own, wrong labels would pass for much noise
    statistics = left_out(made.beat if all(made.guided) else made.free, made.vectors, made.shake)
    if many >= 12 and statistics["nll"] > np.log(len(COUNTS)) and statistics["agreement"] < 0.3:
        raise BadDataError(f"The shakes{named} do not fit their labels: the numbers of beads cannot be right.")
    made = made.adapted()
    made.card.update(_card(made, refused or {}))
    return made


def _card(made: Calibration, refused: dict[str, int]) -> dict[str, Any]:
    """Return the data card of a calibration, with how good it is on its own shakes, each left out in turn."""
    first = np.unique(made.shake, return_index=True)[1]
    hands = sorted({made.who[i] for i in first})
    known = made.beat if all(made.guided) else made.free
    statistics = {"left out": left_out(known, made.vectors, made.shake)}
    if len(hands) > 1:
        whose = np.unique(np.asarray(made.who), return_inverse=True)[1]
        statistics["new hand"] = left_out(known, made.vectors, made.shake, whose)
    nothing = Known(known.prior.unmeasured(), made.vectors[:0], made.counts[:0], ())
    answer = nothing.answer(made.vectors[first], ["?"] * len(first))
    statistics["before"] = figures_of(answer.each(known.prior.stretch), answer.mean, made.counts[first])
    return {
        "title": "Calibration of one igloo for the bead counter of the tabletop companion",
        "device": made.device,
        "tier": made.tier,
        "shakes": len(first),
        "by_count": {str(n): int((made.counts[first] == n).sum()) for n in COUNTS if (made.counts[first] == n).any()},
        "hands": hands,
        "guided": int(sum(made.guided[i] for i in first)),
        "left_aside": refused,
        "figures": statistics,
        "how": "each shake (left out) or all shakes of a hand (new hand) judged by the others; before: by none",
    }


# --- keeping it ----------------------------------------------------------------------------------------------------


def file_of(folder: Path, device: str) -> Path:
    """Return where the calibration of an igloo lies."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", device).strip("-")[:40] or "igloo"
    if plain != device and device:
        plain += "-" + hashlib.sha256(device.encode()).hexdigest()[:6]
    return folder / f"{plain}.npz"


def save(made: Calibration, folder: Path) -> Path:
    """Write a calibration whole or not at all; what lay there before stays beside it. Return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = file_of(folder, made.device)
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        np.savez_compressed(
            file,
            device=np.asarray(made.device),
            tier=np.asarray(made.tier),
            vectors=made.vectors.astype(np.float32),
            count=made.counts,
            who=np.asarray(made.who),
            guided=np.asarray(made.guided),
            shake=made.shake,
            sizes=np.asarray(json.dumps([written(made.free_sizes), written(made.beat_sizes)], ensure_ascii=False)),
            heard_by=np.asarray(heard_by(made.tier)),
            card=np.asarray(json.dumps(made.card, ensure_ascii=False)),
        )
    if path.exists():
        path.replace(path.with_suffix(f"{BEFORE}.npz"))
    part.replace(path)
    return path


def load(path: Path) -> Calibration:
    """Read a calibration.

    :raises BadDataError: when it is none, in one sentence.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = Calibration(
                str(arrays["device"]),
                float(arrays["tier"]),
                arrays["vectors"].astype(np.float64),
                arrays["count"].astype(np.int64),
                tuple(str(name) for name in arrays["who"]),
                tuple(bool(value) for value in arrays["guided"]),
                arrays["shake"].astype(np.int64),
                json.loads(str(arrays["card"])),
                # what was kept before sizes adapted counts as it did
                *(read(one) for one in json.loads(str(arrays.get("sizes", "[]")))),
            )
            digest = str(arrays["heard_by"])
    except Exception as error:  # zip, its compressions, numpy's headers and JSON each break in their own way
        raise BadDataError(f"{path.name} is no calibration.") from error
    n = len(found.counts)
    fits = found.tier in TIERS and digest == heard_by(found.tier) and found.vectors.shape[:1] == (n,)
    if (
        not fits
        or not n == len(found.who) == len(found.guided) == len(found.shake)
        or not np.isfinite(found.vectors).all()
        or not n
    ):
        raise BadDataError(f"{path.name} was made by another version; calibrate again.")
    return found


@dataclass(frozen=True, slots=True)
class Listed:
    """One calibration of a folder: its igloo, its data card, and whether there is one before it to go back to."""

    device: str
    card: dict[str, Any]
    undoable: bool


def listed(folder: Path) -> list[Listed]:
    """Return the calibrations of a folder by the names of their igloos; what cannot be read is left out."""
    found = []
    for path in sorted(folder.glob("*.npz")):
        if path.stem.endswith(BEFORE):
            continue
        try:
            one = load(path)
        except BadDataError:
            continue
        found.append(Listed(one.device, one.card, path.with_suffix(f"{BEFORE}.npz").exists()))
    return sorted(found, key=lambda one: one.device)


def known(folder: Path, device: str) -> Calibration | None:
    """Return the calibration of an igloo, None where it has none that can be read."""
    path = file_of(folder, device)
    try:
        return load(path) if path.exists() else None
    except BadDataError:
        return None


def undo(folder: Path, device: str) -> bool:
    """Bring back the calibration that was there before, or, where there was none, remove it; tell whether one is left.

    :raises BadDataError: when there is nothing to undo.
    """
    path = file_of(folder, device)
    if not path.exists():
        raise BadDataError(f"{folder} holds no calibration{' of ' + device if device else ''}.")
    former = path.with_suffix(f"{BEFORE}.npz")
    if former.exists():
        former.replace(path)
        return True
    path.unlink()
    return False


class CalibrationStore:
    """The calibrations of a folder, one for each igloo.

    :raises BadDataError: when the folder is missing, empty, or holds what is no calibration.
    """

    def __init__(self, folder: Path) -> None:
        files = sorted(path for path in folder.glob("*.npz") if not path.stem.endswith(BEFORE))
        if not files:
            raise BadDataError(f"{folder} holds no calibration.")
        self._known = {one.device: one for one in map(load, files)}

    @property
    def devices(self) -> list[str]:
        """The names of the igloos."""
        return list(self._known)

    def of(self, device: str) -> Calibration | None:
        """Return the calibration of an igloo; one without a name is the only one there is."""
        if device in self._known:
            return self._known[device]
        alone = next(iter(self._known.values())) if len(self._known) == 1 else None
        return alone if alone and (not device or not alone.device) else None
