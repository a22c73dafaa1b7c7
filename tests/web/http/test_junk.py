"""Requests made from the API's own description, right ones and junk: nothing breaks, every answer was promised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.web.assembly import NAME, SmallCompanion
from tests.worlds.sizes import size
from web.app import create_app
from web.http.sessions import COOKIE

ENDLESS = "/api/events"
"""A live stream never ends; it has tests of its own."""

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
HEADERS = {"Origin": f"http://{NAME}", "Accept-Encoding": "identity"}


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCompanion]:
    companion = SmallCompanion(tmp_path_factory.mktemp("junk"))
    companion.open_match()
    companion.plug_in()
    yield companion
    companion.close()


def cookie(companion: SmallCompanion) -> dict[str, str]:
    """Return the cookie of a fresh host: some requests end sessions."""
    admitted = companion.access.redeem(companion.access.host_token(), "test")
    assert admitted is not None
    return {COOKIE: admitted[0]}


@pytest.fixture(scope="module")
def examples(pytestconfig: pytest.Config) -> int:
    """How many requests of each kind are made to each route; `--junk 500` makes an hour of it."""
    return int(pytestconfig.getoption("--junk") or size(1, 12))


@pytest.mark.sized
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "junk"])
def test_every_answer_is_one_that_was_promised(companion: SmallCompanion, mode: GenerationMode, examples: int) -> None:
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", create_app(companion), base_url=f"http://{NAME}")
    asked = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path == ENDLESS:
            continue
        if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.path_parameters):
            continue

        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            derandomize=examples < 100,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            nonlocal asked
            asked += 1
            answer = case.call(base_url=f"http://{NAME}", headers=HEADERS, cookies=cookie(companion))
            case.validate_response(answer, checks=CHECKS)

        ask()
    assert asked > 40 * examples


def test_the_description_itself_is_sound(companion: SmallCompanion, tmp_path: Path) -> None:
    del tmp_path
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", create_app(companion), base_url=f"http://{NAME}")
    schema.validate()
