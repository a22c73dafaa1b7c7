"""A certificate authority of one box: made once, it vouches for this box's own addresses, and can do little else.

A box on a home network has no public name, so nobody else can vouch for it. Its root is constrained (RFC 5280,
4.2.1.10) to private addresses, ``localhost`` and names in ``.local``: whoever stole its key could pretend to be a box
in such a network, and no site of the internet. Keys are of the curve P-256, which every phone knows.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
import ssl
from collections.abc import Iterable, Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from companion.night.log.data_folder import write_small
from companion.ports import BadDataError

FOLDER = ".tls"
"""In the data folder; a leading dot keeps it out of backups. Keys are for the service's user alone."""

PRIVATE = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "127.0.0.0/8",
    "fc00::/7",
    "fe80::/10",
    "::1/128",
)
"""Networks that nobody reaches from outside (RFC 1918, 3927, 4193, 4291)."""
LOCAL = ("local", "localhost")

ROOT_DAYS = 3650
LEAF_DAYS = 397
"""Apple's phones take no longer one from an authority of one's own beyond 825 days; public ones end after 398."""
RENEW_DAYS = 30
DAY = datetime.timedelta(days=1)
EARLIEST = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
"""A Pi without a clock may think itself in 1970 when it makes its root, which is valid from here on anyway."""


def covered(names: Iterable[str]) -> list[str]:
    """Return those of some names and addresses that the root may vouch for, each once."""
    found = []
    for name in dict.fromkeys(one.strip("[]").lower().rstrip(".") for one in names):
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            if name.isascii() and name.split(".")[-1] in LOCAL and name != "local":
                found.append(name)
        else:
            if any(address in ipaddress.ip_network(network) for network in PRIVATE):
                found.append(str(address))
    return found


class Authority:
    """The root of a data folder, and the certificate that it gives to the service; neither leaves the folder."""

    def __init__(self, folder: Path, label: str) -> None:
        """Open what is there, or make it; ``label`` is what a phone shows of the root.

        :raises BadDataError: when what is there cannot be read.
        :raises OSError: when it cannot be written.
        """
        self._folder = folder / FOLDER
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Of its own, so that its certificate can be changed while connections go on with the one before.
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        self.names: list[str] = []
        self._ends = self._begins = EARLIEST
        if not (self._folder / "root.pem").exists():
            self._make_root(label)
        try:
            self._root = x509.load_pem_x509_certificate(self._read("root.pem"))
            key = load_pem_private_key(self._read("root.key"), None)
        except (OSError, ValueError, TypeError) as error:
            raise BadDataError(
                f"The certificate in {self._folder} cannot be read ({error}). Move that folder away: another one is "
                "made, and every phone has to trust it anew."
            ) from error
        assert isinstance(key, ec.EllipticCurvePrivateKey)  # noqa: S101 - we made it
        self._key = key

    @property
    def root(self) -> bytes:
        """Return the root as phones install it (DER)."""
        return self._root.public_bytes(Encoding.DER)

    @property
    def fingerprint(self) -> str:
        """Return the root's SHA-256, as phones show it."""
        return self._root.fingerprint(hashes.SHA256()).hex(":").upper()

    def renew(self, names: Sequence[str], now: datetime.datetime | None = None) -> bool:
        """Vouch for these names and addresses from now on; return whether another certificate was needed for it.

        One is made where an address or a name is new, where the one that is there ends within a month, or where its
        time has not come (the clock was put right).
        """
        now = now or datetime.datetime.now(datetime.UTC)
        wanted = covered(names)
        lasts = self._begins <= now < self._ends - RENEW_DAYS * DAY
        if lasts and set(wanted) <= set(self.names):
            return False
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives: list[x509.GeneralName] = []
        for name in wanted:
            try:
                alternatives.append(x509.IPAddress(ipaddress.ip_address(name)))
            except ValueError:
                alternatives.append(x509.DNSName(name))
        begins, ends = now - DAY, now + LEAF_DAYS * DAY - DAY
        certificate = (
            _begun("Tabletop Companion", self._root.subject, key.public_key(), begins, ends)
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        # Both in one file: what is read is always a pair.
        path = self._folder / "server.pem"
        write_small(path, _pem(key) + certificate.public_bytes(Encoding.PEM).decode())
        self.context.load_cert_chain(path)
        self.names, self._begins, self._ends = wanted, begins, ends
        return True

    def _read(self, name: str) -> bytes:
        with os.fdopen(os.open(self._folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            return file.read(1 << 16)

    def _make_root(self, label: str) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, label[:60])])
        ends = max(EARLIEST, datetime.datetime.now(datetime.UTC)) + ROOT_DAYS * DAY
        allowed: list[x509.GeneralName] = [x509.DNSName(name) for name in LOCAL]
        allowed += [x509.IPAddress(ipaddress.ip_network(network)) for network in PRIVATE]
        root = (
            _begun(label[:60], subject, key.public_key(), EARLIEST, ends)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signature=False), critical=True)
            .add_extension(x509.NameConstraints(permitted_subtrees=allowed, excluded_subtrees=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        # The key first: a root without one would be there for good.
        write_small(self._folder / "root.key", _pem(key))
        write_small(self._folder / "root.pem", root.public_bytes(Encoding.PEM).decode())


def _begun(
    title: str,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    begins: datetime.datetime,
    ends: datetime.datetime,
) -> x509.CertificateBuilder:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title)])
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return builder.serial_number(x509.random_serial_number()).not_valid_before(begins).not_valid_after(ends)


def _usage(*, signature: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=signature,
        key_cert_sign=not signature,
        crl_sign=not signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
