"""The hub: everybody hears, nobody holds anybody up, and who is too slow is told so."""

from __future__ import annotations

import threading

from companion.events.hub import Event, Hub
from tests.worlds.wait import wait


def test_topics_order_and_numbers() -> None:
    hub = Hub()
    with hub.subscribe() as everything, hub.subscribe({"state"}) as states:
        assert len(hub) == 2
        for n in range(3):
            hub.publish("state", {"n": n}, seq=n)
            hub.publish("motion", {"n": n})
        heard = [everything.get(0) for _ in range(6)]
        assert [(e.topic, e.data["n"], e.seq) for e in heard if e] == [
            ("state", 0, 0),
            ("motion", 0, None),
            ("state", 1, 1),
            ("motion", 1, None),
            ("state", 2, 2),
            ("motion", 2, None),
        ]
        assert everything.get(0) is None
        assert [e.seq for e in (states.get(0), states.get(0), states.get(0)) if e] == [0, 1, 2]
        assert states.get(0) is None
    assert len(hub) == 0
    hub.publish("state", {})


def test_an_event_is_one_text_for_all() -> None:
    event = Event("state", {"who": "Zoé", "n": [1, None]}, 7)
    assert event.text == '{"who":"Zoé","n":[1,null]}'
    assert event.text is event.text
    assert repr(event) == "Event('state', seq=7)"


def test_overflow_lags_and_catches_up() -> None:
    hub = Hub(size=3)
    with hub.subscribe() as slow, hub.subscribe(size=100) as quick:
        for n in range(3):
            hub.publish("state", {}, seq=n)
        assert not slow.lagging
        for n in range(3, 50):
            hub.publish("state", {}, seq=n)
        assert slow.lagging
        assert slow.get(0) is None
        assert slow.get(None) is None
        assert list(slow) == []
        assert not quick.lagging
        slow.caught_up()
        hub.publish("state", {}, seq=50)
        event = slow.get(0)
        assert event is not None
        assert event.seq == 50
        assert [e.seq for e in (quick.get(0) for _ in range(51)) if e] == list(range(51))


def test_what_is_published_while_catching_up_is_not_missed() -> None:
    """A reader that says so first and fetches then sees everything: by the state it fetched, or by an event."""
    hub = Hub(size=2)
    state = 0
    seen = []
    with hub.subscribe() as reader:
        for n in range(1, 30):
            state = n
            hub.publish("state", {}, seq=n)
            if n % 7 == 0:
                assert reader.lagging
                reader.caught_up()
                seen.append(state)
                state = n * 100
                hub.publish("state", {}, seq=n * 100)
                event = reader.get(0)
                assert event is not None
                assert event.seq == n * 100
    assert seen == [7, 14, 21, 28]


def test_closing_wakes_who_waits() -> None:
    hub = Hub()
    got: list[object] = []
    subscription = hub.subscribe()
    threads = [
        threading.Thread(target=lambda: got.append(subscription.get(30))),
        threading.Thread(target=lambda: got.append(list(subscription))),
    ]
    for thread in threads:
        thread.start()
    hub.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert subscription.closed
    assert sorted(map(str, got)) == ["None", "[]"]
    assert subscription.get(None) is None


def test_publishers_and_readers_in_many_threads() -> None:
    hub = Hub(size=10_000)
    heard: list[list[int | None]] = [[] for _ in range(4)]
    readers = [hub.subscribe({"n"}) for _ in heard]

    def read(index: int) -> None:
        heard[index].extend(event.seq for event in readers[index])

    def write(start: int) -> None:
        for n in range(200):
            hub.publish("n", {}, seq=start + n)
            with hub.subscribe():
                hub.publish("other", {})

    reading = [threading.Thread(target=read, args=(i,)) for i in range(len(heard))]
    writing = [threading.Thread(target=write, args=(i * 1000,)) for i in range(3)]
    for thread in reading + writing:
        thread.start()
    for thread in writing:
        thread.join()
    for reader in readers:
        wait(lambda reader=reader: not reader._queue)
    hub.close()
    for thread in reading:
        thread.join()
    for seqs in heard:
        assert len(seqs) == 600
        for start in (0, 1000, 2000):
            assert [s for s in seqs if s is not None and start <= s < start + 1000] == list(range(start, start + 200))
