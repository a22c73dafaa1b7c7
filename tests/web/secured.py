"""The small house over TLS, beside the plain address, as `companion serve --tls` has both."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

from companion.access.authority import Authority
from tests.web.assembly import SmallCompanion
from tests.worlds.wait import PATIENCE_S
from web.app import create_app
from web.http.server import WebServer, make_server
from web.http.tls import TlsServer, make_tls_server
from web.trust import Tls


class Secured:
    """Both servers, and a client that trusts the root."""

    def __init__(self, folder: Path) -> None:
        self.companion = SmallCompanion(folder)
        self.authority = Authority(folder, "igloo")
        self.authority.renew(["127.0.0.1", "localhost"])
        told = Tls(self.authority.root, self.authority.fingerprint)
        self.app = create_app(self.companion, told)
        self.plain: WebServer = make_server(self.app)
        self.server: TlsServer = make_tls_server(self.app, self.authority.context)
        told.port, told.plain_port = self.server.port, self.plain.port
        self.client = ssl.create_default_context(cadata=self.authority.root)
        self.threads = [threading.Thread(target=one.run, daemon=True) for one in (self.plain, self.server)]
        for thread in self.threads:
            thread.start()

    def ask(self, method: str, path: str, body: object = None, *, tls: bool = True, **headers: str) -> Any:
        line = (
            http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=PATIENCE_S, context=self.client)
            if tls
            else http.client.HTTPConnection("127.0.0.1", self.plain.port, timeout=PATIENCE_S)
        )
        data = None if body is None else json.dumps(body)
        line.request(method, path, data, {"Content-Type": "application/json", "Accept-Language": "en", **headers})
        answer = line.getresponse()
        answer.data = answer.read()  # type: ignore[attr-defined]
        line.close()
        return answer

    def line(self, *, handshake: bool = True) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE_S)
        return self.client.wrap_socket(plain, server_hostname="127.0.0.1") if handshake else plain

    def close(self) -> None:
        for one in (self.plain, self.server):
            one.stop()
        self.companion.hub.close()
        for thread in self.threads:
            thread.join(timeout=PATIENCE_S)
            assert not thread.is_alive()
        self.companion.close()
