"""The igloos of this table: found by themselves, listened to, and, where asked for, a simulated one in the empty place.

A simulated igloo comes only when no real one was heard at the start, and goes when a real one is heard. A real
igloo that is lost later is missing; no simulated one takes its place.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from companion.calibrating.messages import NO_SIMULATED_IGLOO
from companion.igloo.line.candidate_ports import DEFAULT_DENY
from companion.igloo.line.discovery import IglooDiscovery
from companion.igloo.sample_pipeline import SamplePipeline
from companion.igloo.simulated.igloo import SimulatedIgloo
from companion.ports import (
    COUNTS,
    BadDataError,
    CountGate,
    CountPosterior,
    DeviceError,
    DeviceKind,
    DeviceState,
    IglooLink,
    IglooStatus,
    Motion,
    Samples,
    SimulatedAction,
)
from companion.service.messages import NO_SUCH_COUNT
from companion.settings import Settings

if TYPE_CHECKING:
    from companion.igloo.count.counter import CalibratedModel

FIRST_LOOK_S = 1.5
PATIENCE_S = 10.0
"""How long a real igloo is listened for, where a port is there, before a simulated one takes the empty place: a board
boots in two seconds, and listening at every bit rate takes seven and a half. Where no port is, the first look does."""

CHECK_S = 0.5
SHAKE_S = 4.0


class Igloos:
    """All igloo links with their pipelines. Callbacks come from the pipelines' threads."""

    def __init__(
        self,
        *,
        port: str,
        simulate: bool,
        settings: Settings,
        gate: CountGate,
        on_motion: Callable[[Motion], None],
        on_count: Callable[[CountPosterior], None],
        known: Callable[[str, DeviceKind], CalibratedModel | None] = lambda key, kind: None,
        is_balance: Callable[[str, DeviceKind], bool] = lambda key, kind: False,
    ) -> None:
        """Prepare; :meth:`start` begins to search. ``port`` names one port, and then no other is searched for.

        ``known(key, kind)`` is what is known of an igloo by its calibration. What ``is_balance(key, kind)`` is
        no igloo: nobody but :meth:`subscribe_balance` hears it.

        :raises BadDataError: when ``port`` is a recording that cannot be read.
        """
        named = port or settings.text("igloo_port")
        deny = (*DEFAULT_DENY, *settings.lines("igloo_deny"))
        self._discovery = IglooDiscovery(named=[named] if named else [], search=not named, deny=deny)
        self._simulate = simulate
        self._gate, self._on_motion, self._on_count = gate, on_motion, on_count
        self._motion: Motion | None = None
        self._count: CountPosterior | None = None
        self._known = known
        self._is_balance = is_balance
        self._balances: frozenset[int] = frozenset()
        self._pipelines: dict[int, SamplePipeline] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._simulated: SimulatedIgloo | None = None
        self._thread = threading.Thread(target=self._mind, name="igloos", daemon=True)

    def start(self) -> None:
        """Begin to search, and to listen to what is found."""
        self._discovery.subscribe(self._hear)
        self._discovery.on_change(self._changed)
        self._discovery.start()
        self._thread.start()

    def statuses(self) -> list[IglooStatus]:
        """Return how every igloo is doing; the balance is none."""
        return [one for one in self._discovery.statuses() if not self._is_balance(one.key, one.kind)]

    def every_status(self) -> list[IglooStatus]:
        """Return how every sensor is doing, that of the balance too."""
        return self._discovery.statuses()

    def motion(self) -> Motion | None:
        """Return the newest change of motion of any igloo."""
        return self._motion

    def count(self) -> CountPosterior | None:
        """Return the newest count, or None: a live round hides it, and forgets it."""
        if not self._gate.is_open():
            self._count = None
        return self._gate.through(self._count, None)

    def subscribe(self, listener: Callable[[IglooLink, Samples], None]) -> None:
        """Call ``listener`` with link and samples of every igloo, now and later."""

        def heard(link: IglooLink, samples: Samples) -> None:
            if id(link) not in self._balances:
                listener(link, samples)

        self._discovery.subscribe(heard)

    def subscribe_balance(self, listener: Callable[[IglooLink, Samples], None]) -> None:
        """Call ``listener`` with link and samples of every sensor; it picks the balance's."""
        self._discovery.subscribe(listener)

    def sort_anew(self) -> None:
        """Tell igloos and balance apart again: another device is the balance, or none."""
        self._motion = self._count = None
        self._changed([])

    @property
    def simulated(self) -> bool:
        """Return whether a simulated igloo is there to be played with."""
        return self._simulated is not None

    def simulate(self, action: SimulatedAction, count: int | None = None) -> None:
        """Do something to the simulated igloo; without ``count`` a shake takes another number than anybody knows.

        After a shake it stands on the table again; a lifted or turned one stays in the hand until it is set down.

        :raises DeviceError: when there is none.
        :raises BadDataError: for a count that no igloo has.
        """
        igloo = self._simulated
        if igloo is None:
            raise DeviceError(NO_SIMULATED_IGLOO)
        if count is not None and count not in COUNTS:
            raise BadDataError(NO_SUCH_COUNT)
        match action:
            case SimulatedAction.SHAKE:
                igloo.shake(count if count is not None else random.choice(COUNTS), SHAKE_S)  # noqa: S311 - a toy
                # Whoever taps a number has no hand in which it would stay.
                igloo.set_down()
            case SimulatedAction.LIFT:
                igloo.lift()
            case SimulatedAction.TURN_OVER:
                igloo.turn_over()
            case SimulatedAction.SET_DOWN:
                igloo.set_down()
            case SimulatedAction.UNPLUG:
                igloo.unplug()
            case SimulatedAction.REPLUG:
                igloo.replug()

    def shake_for(self, count: int, seconds: float, guided: bool) -> None:
        """Shake the simulated igloo for so long, ``guided`` with the beat; then it stands on the table again.

        :raises DeviceError: when there is none.
        """
        igloo = self._simulated
        if igloo is None:
            raise DeviceError(NO_SIMULATED_IGLOO)
        (igloo.follow_beat if guided else igloo.shake)(count, seconds)
        igloo.set_down()

    def close(self) -> None:
        """Stop everything and free the ports."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)
        self._discovery.close()
        if self._simulated is not None:
            self._simulated.close()
        with self._lock:
            pipeline, self._pipelines = list(self._pipelines.values()), {}
        for pair in pipeline:
            pair.close()

    def _hear(self, link: IglooLink, samples: Samples) -> None:
        pipeline = self._pipelines.get(id(link))
        if pipeline is not None:
            pipeline.hear(samples)

    def _moved(self, motion: Motion) -> None:
        self._motion = motion
        self._on_motion(motion)

    def _counted(self, posterior: CountPosterior) -> None:
        self._count = posterior
        self._on_count(posterior)

    def _changed(self, statuses: list[IglooStatus]) -> None:
        """Give every link its pipeline; an igloo that has told its unit gets a new one under its own name."""
        del statuses
        links = {id(link): link.status() for link in self._discovery.links()}
        with self._lock:
            if self._closing.is_set():
                return
            old = dict(self._pipelines)
            new = {}
            self._balances = frozenset(
                number for number, status in links.items() if self._is_balance(status.key, status.kind)
            )
            for number, status in links.items():
                if number in self._balances:
                    continue
                pipeline = old.get(number)
                if pipeline is None or pipeline.key != status.key:
                    pipeline = SamplePipeline(
                        status.key,
                        status.kind,
                        on_motion=self._moved,
                        on_count=self._counted,
                        gate=self._gate,
                        known=partial(self._known, status.key, status.kind),
                    )
                new[number] = pipeline
            self._pipelines = new
        for pipeline in old.values():
            if pipeline not in new.values():
                pipeline.close()

    def _mind(self) -> None:
        """Let a simulated igloo come and go as the head of this module says."""
        if not self._simulate or self._closing.wait(FIRST_LOOK_S):
            return
        end = time.monotonic() + PATIENCE_S - FIRST_LOOK_S
        while self._searching() and time.monotonic() < end:
            if self._closing.wait(CHECK_S):
                return
        if not self._real_heard():
            igloo = SimulatedIgloo()
            self._simulated = igloo
            self._discovery.add(igloo.port)
            while not self._closing.wait(CHECK_S):
                if self._real_heard():
                    self._simulated = None
                    self._discovery.remove(igloo.port)
                    igloo.close()
                    return

    def _searching(self) -> bool:
        return any(status.state is DeviceState.SEARCHING for status in self._discovery.statuses())

    def _real_heard(self) -> bool:
        own = self._simulated.port if self._simulated is not None else ""
        return any(
            status.state is DeviceState.CONNECTED and (status.kind is not DeviceKind.SIMULATED or status.port != own)
            for status in self.statuses()
        )
