"""What happens is told to everybody who listens: a small, bounded publish and subscribe between threads.

A slow listener never holds up a publisher and never makes memory grow: when its queue is full, the queue is
emptied and the subscription is marked as *lagging*. The listener then fetches the full state, which is always
enough, and goes on.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from types import TracebackType
from typing import Any, Self


class Event:
    """Something that happened: a topic, its data, and the journal's number where it was journalled."""

    __slots__ = ("_text", "data", "seq", "topic")

    def __init__(self, topic: str, data: Mapping[str, Any], seq: int | None = None) -> None:
        self.topic = topic
        self.data = data
        self.seq = seq
        self._text: str | None = None

    def __repr__(self) -> str:
        return f"Event({self.topic!r}, seq={self.seq})"

    @property
    def text(self) -> str:
        """Return the data as compact JSON, made once for all listeners (40 streams get the same string)."""
        if self._text is None:
            self._text = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return self._text


class Subscription:
    """One listener's bounded queue; use it as a context manager, so that it ends when the listener does.

    After an overflow :attr:`lagging` is true: call :meth:`caught_up` *first*, then fetch the full state; what is
    published in between is in the queue again.
    """

    def __init__(self, hub: Hub, topics: Collection[str] | None, size: int) -> None:
        self._hub = hub
        self._topics = frozenset(topics) if topics is not None else None
        self._size = size
        self._queue: deque[Event] = deque()
        self._ready = threading.Condition()
        self._lagging = False
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        """Yield events as they come, until the subscription is closed or lags."""
        while (event := self.get(None)) is not None:
            yield event

    @property
    def lagging(self) -> bool:
        """Return whether events were lost because the queue was full."""
        with self._ready:
            return self._lagging

    @property
    def closed(self) -> bool:
        """Return whether the subscription has ended (by its reader or with the hub)."""
        with self._ready:
            return self._closed

    def caught_up(self) -> None:
        """Say that the full state is about to be fetched: the subscription no longer lags."""
        with self._ready:
            self._lagging = False

    def get(self, timeout: float | None = None) -> Event | None:
        """Return the next event, or None after ``timeout`` seconds, when lagging, or when closed."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._ready:
            while not self._queue and not self._lagging and not self._closed:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None
                self._ready.wait(left)
            if self._lagging or not self._queue:
                return None
            return self._queue.popleft()

    def close(self) -> None:
        """End the subscription; a reader that waits is woken."""
        self._hub.leave(self)
        with self._ready:
            self._closed = True
            self._queue.clear()
            self._ready.notify_all()

    def offer(self, event: Event) -> None:
        """Queue an event if its topic is wanted; called by the hub."""
        if self._topics is not None and event.topic not in self._topics:
            return
        with self._ready:
            if self._closed or self._lagging:
                return
            if len(self._queue) >= self._size:
                self._queue.clear()
                self._lagging = True
            else:
                self._queue.append(event)
            self._ready.notify_all()


class Hub:
    """Where events are published and listened to; safe to use from any thread."""

    def __init__(self, size: int = 64) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._listeners: tuple[Subscription, ...] = ()

    def publish(self, topic: str, data: Mapping[str, Any], seq: int | None = None) -> Event:
        """Give an event to every listener of its topic; never waits for one."""
        event = Event(topic, data, seq)
        for listener in self._listeners:
            listener.offer(event)
        return event

    def subscribe(self, topics: Collection[str] | None = None, size: int | None = None) -> Subscription:
        """Return a new subscription to ``topics`` (None: all), with room for ``size`` waiting events."""
        subscription = Subscription(self, topics, size or self._size)
        with self._lock:
            self._listeners = (*self._listeners, subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Forget a subscription; called by :meth:`Subscription.close`."""
        with self._lock:
            self._listeners = tuple(s for s in self._listeners if s is not subscription)

    def close(self) -> None:
        """End every subscription, so that all readers come back."""
        for subscription in self._listeners:
            subscription.close()

    def __len__(self) -> int:
        """Return how many listen."""
        return len(self._listeners)
