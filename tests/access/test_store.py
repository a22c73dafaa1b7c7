"""Host links, the PIN, sessions: who gets in, who does not, and what lies on the card."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.access.store import (
    DAY_MS,
    MOST_SESSIONS,
    OPEN_TOKENS,
    SCHEMA,
    Access,
    TooManyTriesError,
    TryLimit,
    _hash,
)
from companion.night.answers import Role
from companion.night.log.database import DamagedError, StorageError
from companion.settings import Settings


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(tmp_path: Path, clock: Clock) -> Iterator[Access]:
    access = Access(tmp_path / "access.sqlite", limit=TryLimit(clock))
    yield access
    access.close()


def wrong_pin(access: Access) -> str:
    return f"{(int(access.pin) + 1) % 1_000_000:06d}"


def test_a_host_link_opens_once(access: Access) -> None:
    token = access.host_token()
    joined = access.redeem(token, "10.0.0.2", "Ann's phone")
    assert joined is not None
    secret, session = joined
    assert (session.role, session.label, session.colour) == (Role.HOST, "Ann's phone", None)
    assert access.session(secret) == session
    assert session.actor.id == session.id
    assert session.actor.role is Role.HOST
    assert access.redeem(token, "10.0.0.2") is None
    assert access.redeem(token[:-1], "10.0.0.2") is None
    assert access.redeem("", "10.0.0.2") is None


def test_the_pin_makes_players(access: Access) -> None:
    assert len(access.pin) == 6
    assert access.pin.isdecimal()
    joined = access.join(access.pin, "10.0.0.3", "Bob")
    assert joined is not None
    secret, session = joined
    assert access.session(secret) == session
    assert session.role is Role.PLAYER
    assert access.join(wrong_pin(access), "10.0.0.3") is None
    assert access.join("é" * 6, "10.0.0.3") is None
    assert access.session("nobody") is None
    assert access.session("") is None


def test_another_pin_ends_the_old_one_and_keeps_who_is_in(access: Access) -> None:
    old = access.pin
    joined = access.join(old, "a")
    assert joined is not None
    new = next(pin for pin in iter(access.new_pin, None) if pin != old)
    assert access.pin == new
    assert access.join(old, "a") is None
    assert access.session(joined[0]) is not None


def test_sessions_are_listed_bound_and_ended(access: Access) -> None:
    host = access.redeem(access.host_token(), "a", "  host\x00 phone ")
    player = access.join(access.pin, "b", "x" * 100)
    assert host is not None
    assert player is not None
    assert [(s.role, s.label) for s in access.sessions()] == [(Role.HOST, "host phone"), (Role.PLAYER, "x" * 40)]
    assert access.bind(player[1].id, "red")
    assert not access.bind("nobody", "red")
    bound = access.session(player[0])
    assert bound is not None
    assert (bound.colour, bound.actor.colour) == ("red", "red")
    assert access.revoke(player[1].id)
    assert not access.revoke(player[1].id)
    assert access.session(player[0]) is None
    assert len(access.sessions()) == 1


def test_everything_survives_a_restart_and_another_process_may_help(tmp_path: Path) -> None:
    path = tmp_path / "access.sqlite"
    with contextlib.closing(Access(path)) as service:
        token = service.host_token()
        joined = service.join(service.pin, "a")
        assert joined is not None
        with contextlib.closing(Access(path)) as shell:
            other = shell.host_token()
            assert shell.pin == service.pin
            assert service.redeem(other, "a") is not None
            assert shell.redeem(other, "a") is None
        pin = service.pin
    with contextlib.closing(Access(path)) as again:
        assert again.pin == pin
        session = again.session(joined[0])
        assert session is not None and session.id == joined[1].id
        assert again.redeem(token, "a") is not None


def test_old_links_end_when_many_are_made(access: Access) -> None:
    tokens = [access.host_token() for _ in range(OPEN_TOKENS + 2)]
    opened = [access.redeem(token, f"client{n}") is not None for n, token in enumerate(tokens)]
    assert opened == [False, False] + [True] * OPEN_TOKENS


def test_a_link_is_spent_by_one_of_many(access: Access) -> None:
    token = access.host_token()
    got: list[object] = []
    threads = [threading.Thread(target=lambda n=n: got.append(access.redeem(token, f"c{n}"))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert sum(each is not None for each in got) == 1


def test_players_do_not_pile_up(access: Access) -> None:
    host = access.redeem(access.host_token(), "a")
    assert host is not None
    joined = [access.join(access.pin, "a") for _ in range(MOST_SESSIONS + 3)]
    assert len(access.sessions()) == MOST_SESSIONS
    assert access.session(host[0]) is not None
    newest, eldest = joined[-1], joined[0]
    assert newest is not None
    assert eldest is not None
    assert access.session(newest[0]) is not None
    assert access.session(eldest[0]) is None


def test_no_secret_lies_on_the_card(tmp_path: Path) -> None:
    path = tmp_path / "access.sqlite"
    with contextlib.closing(Access(path)) as access:
        token, spent = access.host_token(), access.host_token()
        host = access.redeem(spent, "a")
        player = access.join(access.pin, "b")
        assert host is not None
        assert player is not None
        for part in tmp_path.iterdir():
            assert stat.S_IMODE(part.stat().st_mode) == 0o600, part
            data = part.read_bytes()
            for secret in (token, spent, host[0], player[0]):
                assert secret.encode() not in data


def test_guessing_is_slow_for_one_address(access: Access, clock: Clock) -> None:
    wrong = wrong_pin(access)
    for _ in range(5):
        assert access.join(wrong, "10.0.0.9") is None
    with pytest.raises(TooManyTriesError) as refusal:
        access.join(access.pin, "10.0.0.9")
    assert refusal.value.wait_s == pytest.approx(20.0)
    # The host link is of another kind: who guesses PINs does not lock it, not even for the same address.
    assert access.redeem(access.host_token(), "10.0.0.9") is not None
    assert access.join(access.pin, "10.0.0.8") is not None
    clock.now += 20.0
    assert access.join(access.pin, "10.0.0.9") is not None
    assert access.join(wrong, "10.0.0.9") is None
    with pytest.raises(TooManyTriesError):
        access.join(wrong, "10.0.0.9")


def test_guessing_host_links_is_slow_and_keeps_no_host_out(access: Access) -> None:
    token = access.host_token()
    for n in range(5):
        assert access.redeem(f"guess{n}", "10.0.0.9") is None
    with pytest.raises(TooManyTriesError):
        access.redeem("guess5", "10.0.0.9")
    # The host may share that address with whoever guesses: a right link opens the table all the same.
    assert access.redeem(token, "10.0.0.9") is not None


def test_guessing_is_slow_for_all_together(access: Access, clock: Clock) -> None:
    wrong = wrong_pin(access)
    for n in range(30):
        assert access.join(wrong, f"10.0.0.{n}") is None
    # Whoever has failed waits, although the address itself has tries left …
    with pytest.raises(TooManyTriesError) as refusal:
        access.join(access.pin, "10.0.0.7")
    assert refusal.value.wait_s == pytest.approx(20.0)
    # … who never has is let in: nobody is locked out by others, nor is the host.
    assert access.join(access.pin, "10.0.1.1") is not None
    assert access.redeem(access.host_token(), "10.0.0.7") is not None
    clock.now += 20.0
    assert access.join(access.pin, "10.0.0.7") is not None


def test_three_addresses_cannot_keep_a_table_shut(access: Access, clock: Clock) -> None:
    wrong = wrong_pin(access)
    for _ in range(2000):
        for n in range(3):
            with contextlib.suppress(TooManyTriesError):
                access.join(wrong, f"10.0.0.{n}")
        clock.now += 0.5
    assert access.join(access.pin, "10.0.1.1") is not None
    assert access.redeem(access.host_token(), "10.0.0.1") is not None


@pytest.mark.parametrize("addresses", [3, 400, 100_000])
def test_a_day_of_guessing_does_not_find_the_pin(clock: Clock, addresses: int) -> None:
    limit = TryLimit(clock)
    tries = 0
    for second in range(86_400):
        clock.now += 1
        with contextlib.suppress(TooManyTriesError):
            limit.ask(f"client{second % addresses}")
            limit.wrong(f"client{second % addresses}")
            tries += 1
    assert 4000 < tries < 10_000  # below 1 % of the PINs


def test_addresses_are_not_remembered_without_end(clock: Clock) -> None:
    limit = TryLimit(clock, most=50)
    for n in range(500):
        limit.wrong(f"client{n}")
    assert len(limit._clients) == 50
    with pytest.raises(TooManyTriesError):
        limit.ask("somebody new")
    clock.now += 3600
    limit.wrong("client1")
    assert len(limit._clients) == 1


def test_on_a_full_card_nobody_joins_and_nothing_is_half_done(access: Access) -> None:
    token = access.host_token()
    (pages,) = access._db.execute("PRAGMA page_count").fetchone()
    access._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="full"):
        for _ in range(MOST_SESSIONS):
            access.join(access.pin, "a", "x" * 40)
    before = access.sessions()
    with pytest.raises(StorageError, match="full"):
        access.redeem(token, "a", "x" * 40)
    assert access.sessions() == before
    access._db.execute("PRAGMA max_page_count = 100000")
    assert access.redeem(token, "a") is not None


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "access.sqlite"
    path.write_bytes(b"rubbish" * 1000)
    with pytest.raises(DamagedError, match="damaged"):
        Access(path)
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE x (y)")
    with pytest.raises(DamagedError, match="another program"):
        Access(path)


# --- how long it lasts -------------------------------------------------------------------------------------------


class Wall:
    """The machine's two clocks: the time of day, which somebody may set, and the seconds since it started."""

    def __init__(self) -> None:
        self.ms, self.s = 1_800_000_000_000, 100.0

    def pass_days(self, days: float) -> None:
        self.ms += round(days * DAY_MS)
        self.s += days * DAY_MS / 1000


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def house(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "settings.json")


@pytest.fixture
def dated(tmp_path: Path, wall: Wall, house: Settings) -> Iterator[Callable[[], Access]]:
    """Return what opens the same file again and again, as a service that starts anew."""
    with contextlib.ExitStack() as opened:

        def begin() -> Access:
            access = Access(tmp_path / "access.sqlite", settings=house, clock=lambda: wall.ms, steady=lambda: wall.s)
            opened.callback(access.close)
            return access

        yield begin


def test_a_host_link_ends_after_its_days(dated: Callable[[], Access], wall: Wall, house: Settings) -> None:
    access = dated()
    token = access.host_token()
    wall.pass_days(6.9)
    assert access.redeem(token, "a") is not None
    token = access.host_token()
    wall.pass_days(7)
    assert access.redeem(token, "a") is None
    house.set({"host_link_days": 1})
    token = access.host_token()
    wall.pass_days(1)
    assert access.redeem(token, "a") is None


@pytest.mark.parametrize("how", ["host", "player"])
def test_a_session_ends_when_it_was_not_used_for_its_days(
    dated: Callable[[], Access], wall: Wall, house: Settings, how: str
) -> None:
    access = dated()
    joined = access.redeem(access.host_token(), "a") if how == "host" else access.join(access.pin, "a")
    assert joined is not None
    # In use it lasts: two years, an evening every month or two.
    for _ in range(12):
        wall.pass_days(60)
        session = access.session(joined[0])
        assert session is not None and session.seen == wall.ms
    assert session.made < session.seen
    wall.pass_days(89.9)
    assert access.sessions() != []
    wall.pass_days(0.1)
    assert access.session(joined[0]) is None
    assert access.sessions() == []
    assert access.session(joined[0]) is None
    # What the host sets holds for sessions that are there.
    again = access.join(access.pin, "a")
    assert again is not None
    house.set({"session_days": 30})
    wall.pass_days(31)
    assert access.sessions() == []


def test_that_a_session_is_used_is_written_once_an_hour(dated: Callable[[], Access], wall: Wall) -> None:
    access = dated()
    joined = access.join(access.pin, "a")
    assert joined is not None
    before = access._db.total_changes
    for _ in range(60):
        wall.pass_days(0.9 / 24 / 60)
        assert access.session(joined[0]) is not None
    assert access._db.total_changes == before
    wall.pass_days(0.2 / 24)
    assert access.session(joined[0]) is not None
    assert access._db.total_changes == before + 1


def test_a_clock_that_is_set_late_ends_nothing_that_is_in_use(dated: Callable[[], Access], wall: Wall) -> None:
    access = dated()
    early = access.join(access.pin, "a")
    access.close()
    wall.pass_days(1 / 48)
    access = dated()  # a Raspberry Pi that was off for a year begins with the time at which it was switched off
    token, spent = access.host_token(), access.host_token()
    host, player = access.redeem(spent, "a"), access.join(access.pin, "b")
    assert host is not None and player is not None and early is not None
    assert access.session(early[0]) is not None
    wall.ms += 365 * DAY_MS
    wall.pass_days(1 / 24)
    for joined in (host, player, early):
        assert access.session(joined[0]) is not None
    assert access.redeem(token, "c") is not None
    wall.pass_days(91)
    assert access.sessions() == []


def test_a_clock_that_ran_ahead_makes_nothing_last_for_ever(dated: Callable[[], Access], wall: Wall) -> None:
    access = dated()
    wall.ms += 3650 * DAY_MS
    token = access.host_token()
    joined = access.join(access.pin, "a")
    assert joined is not None
    access.close()
    wall.ms -= 3650 * DAY_MS
    access = dated()
    assert access.session(joined[0]) is not None
    wall.pass_days(91)
    assert access.redeem(token, "a") is None
    assert access.session(joined[0]) is None
    # … also where it is set back while we run.
    wall.ms += 3650 * DAY_MS
    again = access.join(access.pin, "a")
    assert again is not None
    wall.ms -= 3650 * DAY_MS
    assert len(access.sessions()) == 1
    wall.pass_days(91)
    assert access.sessions() == []


def test_sessions_of_an_older_version_begin_their_days_when_it_is_upgraded(tmp_path: Path, wall: Wall) -> None:
    path = tmp_path / "access.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {SCHEMA.application_id}")
        for step in SCHEMA.migrations[0]:
            assert isinstance(step, str)
            db.execute(step)
        db.execute("INSERT INTO session VALUES (?, 'host-1', 'host', 'Ann', 'red', 5)", (_hash("secret"),))
        db.execute("PRAGMA user_version = 1")
        db.commit()
    with contextlib.closing(Access(path)) as access:
        session = access.session("secret")
        assert session is not None
        assert (session.label, session.colour, session.made, session.device) == ("Ann", "red", 5, ("", ""))


def test_a_phone_beyond_them_ends_the_one_that_was_away_longest(
    dated: Callable[[], Access], wall: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("companion.access.store.MOST_SESSIONS", 2)
    access = dated()
    first, second = (access.join(access.pin, "a", label) for label in ("first", "second"))
    assert first is not None and second is not None
    wall.pass_days(1)
    assert access.session(first[0]) is not None
    wall.pass_days(1)
    assert access.join(access.pin, "a", "third") is not None
    assert [one.label for one in access.sessions()] == ["first", "third"]


def test_all_others_are_ended_at_once(access: Access) -> None:
    hosts = [access.redeem(access.host_token(), "a") for _ in range(2)]
    player = access.join(access.pin, "b", device=("Firefox", "Android"))
    assert hosts[0] is not None and player is not None
    assert player[1].device == ("Firefox", "Android")
    assert access.revoke_others(hosts[0][1].id) == 2
    assert [one.id for one in access.sessions()] == [hosts[0][1].id]
    assert access.session(player[0]) is None


def test_on_a_full_card_who_is_in_plays_on(dated: Callable[[], Access], wall: Wall) -> None:
    access = dated()
    joined = access.join(access.pin, "a")
    assert joined is not None
    wall.pass_days(1)
    access._db.execute("PRAGMA query_only = 1")
    assert access.session(joined[0]) is not None
    assert len(access.sessions()) == 1
