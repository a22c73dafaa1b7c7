"""`companion serve`: the service and its page."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from companion.service import Service
    from companion.service.secured import Secured
    from web.http.server import WebServer
    from web.trust import Tls


@click.command("serve")
@click.option("--host", default="0.0.0.0", show_default=True, help="Address to listen on.")  # noqa: S104
@click.option("--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="Port (0: a free one).")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Data folder (else $COMPANION_DATA, else the user's own data folder).",
)
@click.option("--simulate", is_flag=True, help="Simulate a device that is missing; else it is reported missing.")
@click.option("--igloo", default="", metavar="PORT", help="The igloo's serial port, or a recording (.csv, .npz).")
@click.option("--camera", default="", metavar="SOURCE", help="usb:0, pi, an http address, a photo, a folder, a video.")
@click.option("--tls", is_flag=True, help="Over TLS, with a certificate of this box's own that phones install once.")
@click.option(
    "--tls-port", default=8443, show_default=True, type=click.IntRange(0, 65535), help="Its port (0: a free one)."
)
@click.option("--example-games", is_flag=True, help="Offer the example games too, for developers.")
def command(
    host: str,
    port: int,
    data: Path | None,
    simulate: bool,
    igloo: str,
    camera: str,
    tls: bool,
    tls_port: int,
    example_games: bool,
) -> None:
    """Serve the page to everybody's phone, find the devices and say what was found.

    With --tls the page is at the TLS port; at the other one a phone installs the box's certificate.
    """
    # Numpy reads this when it is imported, below. A shake's arrays are small: more threads only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from companion.cli.owner import give_up_root
    from companion.night.log.data_folder import default_folder
    from companion.night.log.database import DamagedError
    from companion.service import Service
    from companion.service.addresses import page_urls
    from companion.service.options import ServeOptions
    from companion.service.watchdog import Watchdog
    from web.app import create_app
    from web.http.server import make_server

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    folder = data or default_folder()
    folder = give_up_root(folder)
    options = ServeOptions(folder, host, port, simulate, igloo, camera, example_games)
    try:
        service = Service(options)
    except DamagedError as error:
        # Damaged nights are read as far as they go; this is no file of the companion's.
        raise click.ClickException(f"{error} companion restore puts it aside and brings back a backup.") from error
    ended = threading.Event()
    watchdog: Watchdog | None = None
    try:
        secured = _secured(service) if tls else None
        wanted = port
        try:
            app = create_app(service, None if secured is None else secured.told)
            server: WebServer = make_server(app, host, port, spool=options.data)
            plain = server
            if secured is not None:
                wanted = tls_port
                server = secured.server(app, host, tls_port, plain.port)
        except (OSError, OverflowError, ValueError) as error:
            why = getattr(error, "strerror", None) or "no such address"
            raise click.ClickException(f"The page cannot listen on {host}:{wanted}: {why}.") from error

        def stop() -> None:
            plain.stop()
            server.stop()

        service.when_again(stop)
        # Before anything is said: whoever has read it may end the service. A second signal must not interrupt the end.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop())
        service.start()
        urls = service.announce(server.port, "http" if secured is None else "https")
        if secured is not None:
            secured.start(ended)
            threading.Thread(target=plain.run, name="plain", daemon=True).start()
            _greet_trust(secured.told, page_urls(host, plain.port)[0])
        _greet(service, urls)
        threading.Thread(target=_say_devices, args=(service, ended), name="greeter", daemon=True).start()
        watchdog = Watchdog(server.lives)
        watchdog.start()
        server.run()
    finally:
        ended.set()
        if watchdog is not None:
            watchdog.close()
        service.close()
    if service.again:
        # The same process, anew: the supervisor, the terminal and the phones keep it.
        # On the same port, also where a free one was taken: the last word of a command line counts.
        line = [sys.executable, *sys.orig_argv[1:], "--port", str(plain.port)]
        if tls:
            line += ["--tls-port", str(server.port)]
        os.execv(sys.executable, line)  # noqa: S606 - our own command line


def _secured(service: Service) -> Secured:
    """Return what TLS needs; without it nothing of that is read into memory."""
    from companion.service.secured import Secured

    return Secured(service)


def _greet_trust(told: Tls, url: str) -> None:
    """Print where a phone installs the certificate, as text and as a QR code."""
    import segno

    drawn = io.StringIO()
    segno.make(f"{url}/trust", error="l").terminal(out=drawn, compact=True)
    click.echo(drawn.getvalue())
    click.echo("First, once for each phone: open this and install the certificate of this box.")
    click.echo(f"  {url}/trust")
    click.echo(f"Its SHA-256: {told.fingerprint}")


def _greet(service: Service, urls: list[str]) -> None:
    """Print the one address of the host, as text and as a QR code."""
    import segno

    from companion.service.addresses import only_here

    link = f"{urls[0]}/host/{service.access.host_token()}"
    drawn = io.StringIO()
    segno.make(link, error="l").terminal(out=drawn, compact=True)
    click.echo(drawn.getvalue())
    alone = only_here(service.options.host)
    click.echo(f"Open this on {'this machine' if alone else 'your phone'}; it makes you the host of the table:")
    click.echo(f"  {link}")
    if alone:
        click.echo(
            f"Phones cannot reach the page: it listens on {service.options.host} only. For them, leave --host out."
        )
    for note in filter(None, (service.settings.note, service.access_note)):
        click.echo(note)
    click.echo(f"Data: {service.options.data}   End with Ctrl+C. Another host link: companion host")
    sys.stdout.flush()


def _say_devices(service: Service, ended: threading.Event) -> None:
    """Say in the terminal what was found, and what changes."""
    said: list[str] = []
    while not ended.wait(1.0):
        lines = service.describe()
        for line in lines:
            if line not in said:
                click.echo(line)
        said = lines
        sys.stdout.flush()
