"""The authority of a box: what it vouches for, that others believe it, and that it can do little harm."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import stat
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from companion.access import authority
from companion.access.authority import DAY, FOLDER, LEAF_DAYS, RENEW_DAYS, Authority, covered
from companion.night.backup.archive import kept
from companion.ports import BadDataError

NAMES = ["192.168.1.9", "igloo.local", "localhost", "127.0.0.1", "::1"]


def greeted(context: ssl.SSLContext, trusted: bytes | str, name: str) -> ssl.SSLObject | None:
    """Have a client that trusts a root shake hands with a server; return the client's end, None where it refuses."""
    client = ssl.create_default_context(cadata=trusted)
    ours, theirs = socket.socketpair()
    with ours, theirs:

        def serve() -> None:
            try:
                context.wrap_socket(theirs, server_side=True).close()
            except OSError:
                return

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with client.wrap_socket(ours, server_hostname=name) as line:
                assert line.version() in {"TLSv1.2", "TLSv1.3"}
                return line._sslobj  # type: ignore[attr-defined,no-any-return]
        except ssl.SSLCertVerificationError:
            return None
        finally:
            ours.close()
            thread.join(timeout=60)


def test_whoever_trusts_the_root_is_greeted_under_every_name(tmp_path: Path) -> None:
    box = Authority(tmp_path, "Tabletop Companion igloo")
    assert box.renew(NAMES)
    for name in NAMES:
        assert greeted(box.context, box.root, name) is not None, name
    for name in ("192.168.1.10", "other.local", "example.org"):
        assert greeted(box.context, box.root, name) is None, name
    assert greeted(box.context, Authority(tmp_path / "other", "another").root, "localhost") is None


def test_it_is_made_once_and_is_for_the_service_alone(tmp_path: Path) -> None:
    first = Authority(tmp_path, "Tabletop Companion igloo")
    first.renew(NAMES)
    again = Authority(tmp_path, "another name by now")
    assert (again.root, again.fingerprint) == (first.root, first.fingerprint)
    assert len(first.fingerprint) == 95
    folder = tmp_path / FOLDER
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == dict.fromkeys(
        ("root.key", "root.pem", "server.pem"), 0o600
    )
    assert not kept(FOLDER), "no backup holds a key"


def test_its_certificate_is_made_anew_when_it_must_be_and_only_then(tmp_path: Path) -> None:
    box = Authority(tmp_path, "igloo")
    now = datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)
    assert box.renew(NAMES, now)
    assert not box.renew(NAMES, now + DAY)
    assert not box.renew(NAMES[:2], now + DAY), "an address that has gone does no harm"
    assert box.renew([*NAMES, "10.0.0.7"], now + DAY), "another network"
    last = now + DAY + (LEAF_DAYS - 1 - RENEW_DAYS) * DAY
    assert not box.renew(NAMES, last - DAY)
    assert box.renew(NAMES, last), "a month before its end"
    assert box.renew(NAMES, datetime.datetime(1999, 1, 1, tzinfo=datetime.UTC)), "the clock stands elsewhere"
    assert box.renew(NAMES, now), "and is put right"


def test_a_stolen_root_passes_for_no_site_of_the_internet(tmp_path: Path) -> None:
    box = Authority(tmp_path, "igloo")
    key = load_pem_private_key((tmp_path / FOLDER / "root.key").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    root = x509.load_der_x509_certificate(box.root)
    for name in ("example.org", "8.8.8.8", "igloo.local"):
        own = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(datetime.UTC)
        try:
            alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            alternative = x509.DNSName(name)
        forged = (
            authority._begun("forged", root.subject, own.public_key(), now - DAY, now + DAY)
            .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        file = tmp_path / "forged.pem"
        file.write_text(authority._pem(own) + forged.public_bytes(Encoding.PEM).decode())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        assert (greeted(context, box.root, name) is not None) == (name == "igloo.local"), name


@pytest.mark.parametrize(
    ("name", "is_covered"),
    [
        ("192.168.0.1", True),
        ("[fe80::1]", True),
        ("igloo.local.", True),
        ("LOCALHOST", True),
        ("8.8.8.8", False),
        ("2001:db8::1", False),
        ("games.example", False),
        ("igloo", False),
        ("local", False),
        ("é.local", False),
        ("", False),
    ],
)
def test_what_a_root_may_vouch_for(name: str, is_covered: bool) -> None:
    assert bool(covered([name, name])) == is_covered
    assert len(covered([name, name])) <= 1


@pytest.mark.parametrize("name", ["root.pem", "root.key"])
def test_a_damaged_one_is_said(tmp_path: Path, name: str) -> None:
    Authority(tmp_path, "igloo")
    (tmp_path / FOLDER / name).write_text("rubbish")
    with pytest.raises(BadDataError, match="Move that folder away"):
        Authority(tmp_path, "igloo")


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    Authority(tmp_path, "igloo")
    key = tmp_path / FOLDER / "root.key"
    key.rename(tmp_path / "elsewhere")
    key.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadDataError):
        Authority(tmp_path, "igloo")
