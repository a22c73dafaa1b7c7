"""The small house behind Flask's test client, addressed by a made-up LAN name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.assembly import NAME, Service, SmallCompanion, served
from web.app import create_app

BASE = f"http://{NAME}"


class Client(FlaskClient):
    """Asks as a browser that stands on our page: with our Host, and our Origin on every change."""

    def open(self, *args: object, **kw: object) -> object:
        kw.setdefault("base_url", BASE)
        headers = dict(kw.pop("headers", None) or {})
        if kw.get("method", "GET") not in {"GET", "HEAD"}:
            headers.setdefault("Origin", BASE)
        kw["headers"] = {name: value for name, value in headers.items() if value is not None}
        return super().open(*args, **kw)


@pytest.fixture
def companion(tmp_path: Path) -> Iterator[SmallCompanion]:
    companion = SmallCompanion(tmp_path)
    yield companion
    companion.close()


@pytest.fixture
def app(companion: SmallCompanion) -> Flask:
    app = create_app(companion)
    app.test_client_class = Client
    return app


@pytest.fixture
def guest(app: Flask) -> FlaskClient:
    """Return somebody who only watches."""
    return app.test_client()


@pytest.fixture
def host(app: Flask, companion: SmallCompanion) -> FlaskClient:
    """Return the host, who came by a host link."""
    client = app.test_client()
    assert client.post(f"/host/{companion.access.host_token()}").status_code == 303
    return client


@pytest.fixture
def player(app: Flask, companion: SmallCompanion) -> FlaskClient:
    """Return a player, who came with the PIN."""
    client = app.test_client()
    assert client.post("/api/join", json={"pin": companion.access.pin, "label": "Zoé"}).status_code == 200
    return client


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with served(tmp_path / "data") as service:
        yield service
