"""The training room: it deals shakes, keeps their truth to itself, takes answers, and then shows both.

A *drill* is one person's, a *duel* gives the same shakes to all. What is shaken is a stored shake, marked simulated,
or the sensor igloo of this table; then the person shakes, guesses, looks under the igloo and tells the truth. While a
round of Igloo Pop is live the igloo's side of this room is shut: its shakes, its sound, and every figure they are in.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random, SystemRandom
from typing import Any, TypeVar

from companion.ports import COUNTS, CountGate, CountPosterior, DeviceKind
from companion.practice import forms
from companion.practice.database import Duel, PracticeDatabase, PracticeRound, Taken, Trainee, now_ms
from companion.practice.drills import choose, weakest
from companion.practice.offline_bundle import PARTS, OfflineBundle, results
from companion.practice.shakes import CountedShake, PracticeIgloo, Shake, ShakeBank, TrainingError, cut
from companion.practice.sonify import SPEEDS, wav
from companion.practice.statistics import figures, ladder, points
from companion.practice.stored_shakes import StoredShakes
from companion.practice.waveform import picture

DUELLISTS = range(2, 9)
MOST_ROUNDS = 20
MOST_PEOPLE = 40
KEPT_HEARD = 8
"""So many shakes of the igloo are listened to at a time; those that were answered lie on the disk."""
PAST = 24
"""So many shakes that were answered are told at a time."""
RECENT = 600
"""So many answers choose the next drill; older ones weigh less than a thousandth."""
LADDER_LOOKS_AT = 5_000
_T = TypeVar("_T")

Machine = Callable[[Shake], CountPosterior]
"""Counts the beads of a shake."""


@dataclass(slots=True)
class _Listening:
    since: float
    heard: CountedShake | None = None


class PracticeRun:
    """The training room over one book. Every method may be called from any thread.

    While ``gate`` is shut nothing here reveals what is in the igloo.

    :raises companion.practice.database.PracticeDatabaseError: from every method, when the disk refuses.
    """

    def __init__(
        self,
        book: PracticeDatabase,
        shakes: Callable[[], ShakeBank],
        machine: Machine,
        ear: PracticeIgloo,
        *,
        gate: CountGate,
        rng: Random | None = None,
        offline_bundle: OfflineBundle | None = None,
        stored_shakes: StoredShakes | None = None,
    ) -> None:
        self._book, self._machine, self._ear, self._gate = book, machine, ear, gate
        self._rng = rng or SystemRandom()
        self._shakes = lru_cache(1)(shakes)
        self._offline_bundle = offline_bundle or OfflineBundle(
            None, self._shakes, machine, may_work=gate.is_open, rng=rng
        )
        self._stored_shakes = stored_shakes or StoredShakes(None, lambda: 0)
        self._listening: dict[str, _Listening] = {}
        self._lock = threading.Lock()
        self._sounds = lru_cache(16)(self._rendered)

    def close(self) -> None:
        """Close the book, and stop what is being made."""
        self._offline_bundle.close()
        self._book.close()

    # --- people --------------------------------------------------------------------------------------------------

    def people(self) -> list[Trainee]:
        """Return everybody who trains here."""
        return self._book.people()

    def add_person(self, name: str) -> Trainee:
        """Enter a person by name.

        :raises TrainingError: ``too-many`` when the book is full of people.
        """
        if len(self._book.people()) >= MOST_PEOPLE and all(one.name != name for one in self._book.people()):
            raise TrainingError("too-many")
        return self._book.add_person(name)

    def rename(self, person: int, name: str | None) -> None:
        """Rename a person, or forget the name (None); the figures stay.

        :raises TrainingError: ``no-person``, or ``name-taken``.
        """
        self._book.person(person)
        if any(one.name == name and one.id != person for one in self._book.people()):
            raise TrainingError("name-taken")
        self._book.rename(person, name)

    def merge(self, person: int, into: int) -> None:
        """Make two entries one person: the figures of both count for ``into``, whose name stays.

        :raises TrainingError: ``no-person``.
        """
        old, kept = self._book.person(person).id, self._book.person(into).id
        if old != kept:
            self._book.merge(old, kept)

    # --- drills --------------------------------------------------------------------------------------------------

    def igloo_kind(self) -> str | None:
        """Return the kind of the igloo that can be trained with, or None: there is none, or a round is live."""
        kind = self._gate.through(self._ear.kind(), None)
        return None if kind is None else str(kind)

    def deal(self, person: int) -> forms.RoundForm:
        """Deal a person a stored shake: a count that the person should practise, or the one still unanswered."""
        self._book.person(person)
        tried = [(one.truth, one.guess) for one in self._book.answers(person, last=RECENT)]
        made = self._stored(choose(tried, self._rng), [person], number=self._book.answered(person) + 1)
        return self.round(self._book.deal(made).id)

    def listen(self, person: int) -> forms.RoundForm:
        """Begin to listen to the igloo of this table for a person.

        :raises TrainingError: ``no-igloo`` or ``live-round``.
        """
        self._book.person(person)
        self._refuse_in_live_round()
        kind = self._ear.kind()
        if kind is None:
            raise TrainingError("no-igloo")
        made = PracticeRound(
            *(secrets.token_urlsafe(12), now_ms(), person, None, 0, str(kind), None, 0, None, ()), shown=False
        )
        dealt = self._book.deal(made)
        with self._lock:
            self._listening.setdefault(dealt.id, _Listening(time.monotonic()))
            for old in list(self._listening)[:-KEPT_HEARD]:
                del self._listening[old]
        return self.round(dealt.id)

    def _stored(self, count: int, people: Sequence[int], *, duel: str | None = None, number: int = 1) -> PracticeRound:
        """Return a round with a shake of so many beads: one of those that these people have heard least often."""
        bank = self._shakes()
        heard = self._book.heard(people)
        fewest = min(heard.get(shake, 0) for shake in bank.of(count))
        shake = self._rng.choice([one for one in bank.of(count) if heard.get(one, 0) == fewest])
        person = people[0] if duel is None else None
        kind = str(bank.shake(shake).kind)
        seed = self._rng.randrange(2**31)
        return PracticeRound(
            secrets.token_urlsafe(12), now_ms(), person, duel, number, kind, shake, seed, count, (), shown=False
        )

    def _refuse_in_live_round(self) -> None:
        if not self._gate.is_open():
            raise TrainingError("live-round")

    def _answered(self, read: Callable[[bool], _T]) -> _T:
        """Return what is read of answers, with those about the igloo only where the gate still stands open then."""
        igloo = self._gate.is_open()
        found = read(igloo)
        return found if not igloo or self._gate.is_open() else read(False)

    def _heard(self, one: PracticeRound, *, newest: bool) -> CountedShake | None:
        """Return what was heard in a round with the igloo, the newest of it while nobody has answered."""
        with self._lock:
            known = self._listening.get(one.id)
            if known is None:
                return None
            if newest:
                known.heard = self._ear.heard(known.since) or known.heard
            return known.heard

    def round(self, round_id: str) -> forms.RoundForm:
        """Return what may be known of a round: everything when its truth may be seen, else nothing that tells it.

        :raises TrainingError: ``no-round``, or ``live-round`` for one with the igloo.
        """
        one = self._book.round(round_id)
        guesses = self._book.guesses(round_id)
        state, sound = "done" if one.shown else "heard", True
        if one.shake is None:
            self._refuse_in_live_round()
            heard = self._heard(one, newest=not guesses)
            state = "done" if one.shown else "look" if guesses else "listening" if heard is None else "heard"
            sound = heard is not None or self._stored_shakes.has(one.id)
        form: forms.RoundForm = {
            "id": one.id,
            "number": one.number,
            "kind": one.kind,
            "source": "igloo" if one.shake is None else "stored",
            "person": one.person,
            "duel": one.duel,
            "shown": one.shown,
            "answered": sorted(guesses),
            "state": state,
            "sound": sound,
        }
        if one.shown and one.truth is not None:
            form["result"] = {
                "truth": one.truth,
                "guesses": {str(person): guess for person, guess in guesses.items()},
                "points": {str(person): points(guess, one.truth) for person, guess in guesses.items()},
                "machine": [round(p, 4) for p in one.machine] or None,
                "wave": self._drawn(one),
            }
        if one.shake is None:
            self._refuse_in_live_round()
        return form

    def _drawn(self, one: PracticeRound) -> str:
        """Return the shake of a round as :mod:`companion.practice.waveform` draws it, "" where it is not known now."""
        try:
            shake = cut(self._shake(one.shake), one.seed) if one.shake is not None else self._felt(one)
        except TrainingError:
            return ""
        return "" if shake is None else picture(shake.accel, shake.rate_hz)

    def _felt(self, one: PracticeRound, *, newest: bool = False) -> Shake | None:
        """Return what was felt in a round with the igloo: just now, or as it is kept."""
        heard = self._heard(one, newest=newest)
        return self._stored_shakes.shake(one.id) if heard is None else heard.shake

    def sound(self, round_id: str, speed: str) -> bytes:
        """Return the shake of a round as a WAV file; ``speed`` is one of ``full``, ``half``, ``quarter``.

        :raises TrainingError: ``no-round``, ``no-sound`` or ``live-round``.
        """
        if speed not in SPEEDS:
            raise TrainingError("no-sound")
        one = self._book.round(round_id)
        if one.shake is not None:
            return self._sounds(one.shake, one.seed, speed)
        self._refuse_in_live_round()
        felt = self._felt(one, newest=not self._book.guesses(round_id))
        if felt is None:
            raise TrainingError("given-away" if one.shown else "no-sound")
        sound = wav(felt, SPEEDS[speed])
        self._refuse_in_live_round()
        return sound

    def past(self, person: int, before: int) -> forms.PastShakes:
        """Return shakes that a person has answered, newest first, from before an answer's number on.

        ``sound`` says whether one can be heard again: each stored one, and those of the igloo that are kept. ``kept``
        is how many of the igloo are; ``more`` is the number to go on from, null at the end.
        """
        who = self._book.person(person)
        found = self._answered(lambda igloo: self._book.past(who.id, igloo=igloo, before=before, most=PAST + 1))
        stored = {number for count in COUNTS for number in self._shakes().of(count)} if found else set()
        shakes: list[forms.PastShake] = [
            {
                "id": one.id,
                "truth": one.truth,
                "guess": guess,
                "kind": one.kind,
                "sound": self._stored_shakes.has(one.id) if one.shake is None else one.shake in stored,
            }
            for _, one, guess in found[:PAST]
        ]
        return {
            "shakes": shakes,
            "kept": self._stored_shakes.limit,
            "more": found[PAST - 1][0] if len(found) > PAST else None,
        }

    def example(self, count: int, speed: str) -> bytes:
        """Return some stored shake of so many beads as a WAV file, to compare with.

        :raises TrainingError: ``no-sound`` for a count that no igloo has, or another speed.
        """
        if count not in COUNTS or speed not in SPEEDS:
            raise TrainingError("no-sound")
        return self._rendered(self._rng.choice(list(self._shakes().of(count))), self._rng.randrange(2**31), speed)

    def _shake(self, number: int) -> Shake:
        try:
            return self._shakes().shake(number)
        except KeyError:
            # The bank is another one than when this shake was dealt.
            raise TrainingError("no-sound") from None

    def _rendered(self, shake: int, seed: int, speed: str) -> bytes:
        return wav(cut(self._shake(shake), seed), SPEEDS[speed], seed)

    def guess(self, round_id: str, person: int, guess: int) -> forms.RoundForm:
        """Take a person's answer, once, and return the round as it is then.

        :raises TrainingError: ``no-round``, ``no-person``, ``not-yours``, ``no-sound`` (the igloo was not heard
            yet), ``over`` (the truth is out) or ``live-round``.
        """
        one = self._book.round(round_id)
        self._book.person(person)
        people = (one.person,) if one.duel is None else self._book.duel(one.duel).people
        if person not in people:
            raise TrainingError("not-yours")
        given = self._book.guesses(round_id)
        if person in given:
            return self.round(round_id)
        if one.shown:
            raise TrainingError("over")
        if one.shake is None:
            self._refuse_in_live_round()
            heard = self._heard(one, newest=True)
            if heard is None:
                raise TrainingError("no-sound")
            machine = heard.posterior.p
            self._stored_shakes.keep(one.id, heard.shake)
        else:
            machine = one.machine or self._machine(cut(self._shake(one.shake), one.seed)).p
        self._book.answer(round_id, person, guess, machine)
        if one.truth is not None and set(people) <= set(self._book.guesses(round_id)):
            self._book.show(round_id)
            if one.duel is not None and one.number >= self._book.duel(one.duel).rounds:
                self._book.close_duel(one.duel)
        return self.round(round_id)

    def tell(self, round_id: str, truth: int) -> forms.RoundForm:
        """Take what stands under the igloo, after the answer, and return the round.

        :raises TrainingError: ``no-round``, ``known`` (a stored shake), ``no-answer`` or ``live-round``.
        """
        one = self._book.round(round_id)
        if one.shake is not None:
            raise TrainingError("known")
        self._refuse_in_live_round()
        if not self._book.guesses(round_id):
            raise TrainingError("no-answer")
        self._book.show(round_id, truth)
        return self.round(round_id)

    def drop(self, round_id: str) -> None:
        """Stop listening to the igloo for a round that nobody answered; stored shakes are answered, not dropped."""
        if self._book.round(round_id).shake is not None:
            raise TrainingError("known")
        self._book.drop(round_id)
        with self._lock:
            self._listening.pop(round_id, None)

    # --- duels ---------------------------------------------------------------------------------------------------

    def open_duel(self, people: Sequence[int], rounds: int) -> forms.DuelForm:
        """Open a duel and deal its first shake.

        :raises TrainingError: ``no-person``, or ``duellists`` for too few, too many, or one twice.
        """
        if len(people) not in DUELLISTS or len(set(people)) != len(people):
            raise TrainingError("duellists")
        for person in people:
            self._book.person(person)
        duel = Duel(secrets.token_urlsafe(9), tuple(people), max(1, min(rounds, MOST_ROUNDS)), closed=False)
        self._book.open_duel(duel)
        self._book.deal(self._stored(self._rng.choice(COUNTS), people, duel=duel.id))
        return self.duel(duel.id)

    def duels(self) -> list[forms.OpenDuel]:
        """Return the open duels, newest first, that a phone can join: their names only."""
        names = self._book.names()
        return [
            {"id": duel.id, "people": [names.get(person) for person in duel.people]} for duel in self._book.open_duels()
        ]

    def duel(self, duel_id: str) -> forms.DuelForm:
        """Return a duel: points of the rounds that are out, the present round, and who has answered it."""
        duel = self._book.duel(duel_id)
        rounds = self._book.rounds_of(duel_id)
        names = self._book.names()
        total = dict.fromkeys(duel.people, 0)
        for one in rounds:
            if one.shown and one.truth is not None:
                for person, guess in self._book.guesses(one.id).items():
                    total[person] += points(guess, one.truth)
        best = max(total.values())
        return {
            "id": duel.id,
            "rounds": duel.rounds,
            "people": [
                {"person": person, "name": names.get(person), "points": total[person]} for person in duel.people
            ],
            "round": self.round(rounds[-1].id),
            "over": duel.closed,
            "winners": [person for person in duel.people if total[person] == best] if duel.closed else [],
        }

    def next_in_duel(self, duel_id: str, after: int) -> forms.DuelForm:
        """Deal the round that follows round ``after`` of a duel, when that one is out and the duel is not over.

        A request that came twice, or from two phones, deals once.

        :raises TrainingError: ``no-duel``, or ``no-answer`` while somebody has not answered.
        """
        duel = self._book.duel(duel_id)
        last = self._book.rounds_of(duel_id)[-1]
        if last.number == after and not duel.closed and after < duel.rounds:
            if not last.shown:
                raise TrainingError("no-answer")
            self._book.deal(self._stored(self._rng.choice(COUNTS), duel.people, duel=duel_id, number=after + 1))
        return self.duel(duel_id)

    def close_duel(self, duel_id: str) -> forms.DuelForm:
        """End a duel as it stands."""
        self._book.duel(duel_id)
        self._book.close_duel(duel_id)
        return self.duel(duel_id)

    # --- what is taken along -------------------------------------------------------------------------------------

    def along_status(self) -> forms.BundleStatus:
        """Return how far the shakes to be taken along are; asking has them made."""
        return self._offline_bundle.status()

    def take_along(self) -> dict[str, Any]:
        """Return the name of a file that is taken along, and its shakes, each drawn anew.

        :raises TrainingError: ``not-ready`` while they are being made.
        """
        supply, file = self._offline_bundle.take(), secrets.token_urlsafe(9)
        truths = {number: count for count in COUNTS for number in self._shakes().of(count)}
        known = [one for one in supply if one["shake"] in truths]
        self._book.take_along(
            file,
            [
                Taken(one["shake"], one["seed"], truths[one["shake"]], tuple(p / PARTS for p in one["machine"]))
                for one in known
            ],
        )
        shakes = [
            {
                "truth": truths[one["shake"]],
                "machine": [p / PARTS for p in one["machine"]],
                **{fact: one[fact] for fact in ("wave", "sound", "gain", "pitch")},
            }
            for one in known
        ]
        return {"file": file, "shakes": shakes}

    def bring_home(self, person: int, body: Mapping[str, Any]) -> forms.BroughtHome:
        """Take in what a person answered on the way; return how many answers are new, and how many were here before.

        A phone's clock may be wrong: what it says lies between the moment when the file was taken and now.

        :raises TrainingError: ``no-person``, ``bad-results`` (nothing of it is taken in) or ``no-file``.
        """
        who = self._book.person(person)
        file, answers = results(body)
        taken, shakes = self._book.taken(file)
        if any(one.place >= len(shakes) for one in answers):
            raise TrainingError("bad-results")
        now, number = now_ms(), self._book.answered(who.id)
        rounds = []
        for i, one in enumerate(answers, 1):
            shake, at = shakes[one.place], min(max(one.at, taken), now)
            made = PracticeRound(
                *(f"{file}.{one.at}", at, who.id, None, number + i, str(DeviceKind.SIMULATED), shake.shake, shake.seed),
                *(shake.truth, shake.machine),
                shown=True,
            )
            rounds.append((made, one.guess))
        new = self._book.bring(who.id, rounds)
        return {"new": new, "known": len(rounds) - new}

    # --- figures -------------------------------------------------------------------------------------------------

    def figures(self, person: int) -> forms.PersonFigures:
        """Return a person's progress (:func:`companion.practice.statistics.figures`) and the weakest counts."""
        who = self._book.person(person)
        answers = self._answered(lambda igloo: self._book.answers(person, igloo=igloo))
        return {
            "person": who.id,
            "name": who.name,
            "weakest": weakest([(one.truth, one.guess) for one in answers]),
            **figures(answers),
        }

    def ladder(self) -> list[forms.LadderRow]:
        """Return the ladder of this house, best first (:func:`companion.practice.statistics.ladder`)."""
        names = self._book.names()
        return ladder(self._answered(lambda igloo: self._book.answers(igloo=igloo, last=LADDER_LOOKS_AT)), names)
