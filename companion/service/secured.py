"""The page under TLS: the authority of the data folder, its certificate kept fit for the addresses of the moment."""

from __future__ import annotations

import logging
import socket
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from companion.access.authority import Authority
from companion.service.addresses import page_urls
from web.http.tls import TlsServer, make_tls_server
from web.trust import Tls

if TYPE_CHECKING:
    from flask import Flask

    from companion.service import Service

LOOK_EVERY_S = 60.0
"""How often is looked whether the addresses changed, or the certificate is to be renewed."""

log = logging.getLogger(__name__)


class Secured:
    """The certificate of a service, and what phones are told of it."""

    def __init__(self, service: Service, *, every_s: float = LOOK_EVERY_S) -> None:
        """Open the authority, or make it.

        :raises companion.ports.BadDataError: when what is there cannot be read.
        """
        self._service, self._every_s = service, every_s
        self._authority = Authority(service.options.data, f"Tabletop Companion {socket.gethostname()}")
        self._authority.renew(self._names())
        self.told = Tls(self._authority.root, self._authority.fingerprint)

    def server(self, app: Flask, host: str, port: int, plain_port: int) -> TlsServer:
        """Return the server under TLS; ``plain_port`` is where phones are told how to trust it.

        :raises OSError: when the port is taken or the address is not ours.
        """
        server = make_tls_server(app, self._authority.context, host, port, spool=self._service.options.data)
        self.told.port, self.told.plain_port = server.port, plain_port
        return server

    def start(self, ended: threading.Event) -> None:
        """Keep the certificate fit until ``ended``."""
        threading.Thread(target=self._keep, args=(ended,), name="certificate", daemon=True).start()

    def _names(self) -> list[str]:
        found = [urlsplit(url).hostname or "" for url in page_urls(self._service.options.host, 0)]
        return [*found, "localhost", "127.0.0.1", "::1", *self._service.settings.lines("host_names")]

    def _keep(self, ended: threading.Event) -> None:
        while not ended.wait(self._every_s):
            try:
                if self._authority.renew(self._names()):
                    self._service.announce(self.told.port, "https")
            except OSError as error:
                log.error("The certificate could not be renewed: %s", error)
