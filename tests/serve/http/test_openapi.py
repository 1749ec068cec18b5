"""The API does what its document says, whatever it is sent."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextwright.serve.api.routes import OPERATIONS
from contextwright.serve.http.openapi import describe
from contextwright.serve.http.operation import Operation
from serve.api.client import BEARER, MEMORY, Client, filled

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
checks: Any = pytest.importorskip("schemathesis.checks")

KNOWN = {"conversation": "plain", "memory": MEMORY, "request": 1, "seq": 3, "recipe": "aya"}
"""What is in the store: half of the calls are about it."""
EXAMPLES = 16
"""For each operation: sound calls and others, in turn."""
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "one", [pytest.param(one, id=one.name) for one in OPERATIONS if not one.waits]
)
def test_every_answer_is_documented(client: Client, one: Operation) -> None:
    schema = schemathesis.openapi.from_dict(describe(OPERATIONS, "/api/v1"))
    described = schema[one.path][one.method]
    modes = schemathesis.GenerationMode
    held = checks.CHECKS.get_by_names(CHECKS)
    statuses: list[int] = []
    filled(client.store, "plain", 3)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much),
    )
    @given(
        case=st.one_of(
            described.as_strategy(generation_mode=modes.POSITIVE),
            described.as_strategy(generation_mode=modes.NEGATIVE),
        ),
        known=st.booleans(),
    )
    def call(case: Any, known: bool) -> None:
        if known:
            for name in one.path_fields:
                case.path_parameters[name] = KNOWN.get(name, case.path_parameters[name])
        response = case.call(base_url=f"{client.gateway.address}/api/v1", headers=BEARER)
        statuses.append(response.status_code)
        case.validate_response(response, checks=held)

    call()
    assert len(statuses) >= EXAMPLES
