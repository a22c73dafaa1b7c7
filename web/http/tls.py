"""The same server over TLS: each connection speaks it itself, so every limit on addresses and slow clients holds.

Nothing stands between a phone and its connection: a proxy in front would make all phones one address. The handshake is
done in the server's loop, a step whenever the phone has sent something, and has to be complete as soon as a request's
head would have to be.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any

from web.http.server import REQUEST_S, Channel, WebServer, adjustments

if TYPE_CHECKING:
    from pathlib import Path

    from flask import Flask

_LATER = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


class TlsChannel(Channel):
    """A connection under TLS. Its loop reads while a worker writes, and OpenSSL lets only one of them in at a time."""

    _shaken = False
    _answers = False

    def __init__(self, server: TlsServer, sock: socket.socket, addr: Any, adj: Any, map: Any = None) -> None:
        self._tls = threading.Lock()
        sock.setblocking(False)
        wrapped = server.context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        super().__init__(server, wrapped, addr, adj, map)

    def writable(self) -> bool:
        """Tell whether there is something to send, of the handshake too."""
        return bool(self._answers or super().writable())

    def handle_write(self) -> None:
        """Send, or go on with the handshake."""
        if self._answers and not self.will_close:
            self._shake()
        else:
            super().handle_write()

    def handle_read(self) -> None:
        """Take in all that has arrived: what OpenSSL has unpacked already, the loop hears of no more."""
        owed = self.owed
        if owed and self.server.may_drop <= 0:
            return
        self._take()
        self.server.may_drop -= max(0, owed - self.owed)

    def _take(self) -> None:
        while self._shaken or self._shake():
            try:
                with self._tls:
                    data = self.socket.recv(self.adj.recv_bytes)
                    more = self.socket.pending()
            except _LATER:
                return
            except OSError:
                data, more = b"", 0
            if not data:
                self.handle_close()
                self.connected = False
                return
            self.last_activity = time.time()
            self.received(data)
            if not more:
                return

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send what goes now, and return how much that was."""
        try:
            with self._tls:
                return int(self.socket.send(data))
        except _LATER:
            return 0
        except OSError:
            if do_close:
                self.handle_close()
            return 0

    def dawdles(self, now: float) -> bool:
        """Tell whether a request, or the handshake before it, has been coming in for too long."""
        if not self._shaken:
            return bool(now - self.creation_time > REQUEST_S)
        return super().dawdles(now)

    def _shake(self) -> bool:
        """Go on with the handshake; return whether it is complete."""
        self._answers = False
        try:
            with self._tls:
                self.socket.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLWantWriteError:
            self._answers = True
            return False
        except (OSError, ValueError):
            # Plain HTTP, a phone that does not trust us, or one that has gone.
            self.handle_close()
            return False
        self._shaken = True
        return True


class TlsServer(WebServer):
    """Listens under TLS; ``context`` has the certificate, which may be changed while it serves."""

    channel_class = TlsChannel

    def __init__(self, app: Flask, context: ssl.SSLContext, host: str, port: int, spool: Path | None = None) -> None:
        self.context = context
        super().__init__(app, adjustments(app, host, port, "https"), spool)


def make_tls_server(
    app: Flask, context: ssl.SSLContext, host: str = "127.0.0.1", port: int = 0, *, spool: Path | None = None
) -> TlsServer:
    """Return a server under TLS that listens on ``host`` and ``port`` (0: a free one); ``spool`` as for a plain one.

    :raises OSError: when the port is taken or the address is not ours.
    """
    return TlsServer(app, context, host, port, spool)
