"""Recorded requests over HTTP."""

import ast
import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.store import Store
from samples.stores.records import PASSED
from serve.api.client import PAYLOAD, Client, of, recorded, served
from serve.gateways import running


def test_a_recorded_request_has_its_receipt(client: Client) -> None:
    found = client.call("/requests/1").json
    assert found["payload"] == PAYLOAD
    assert found["count"]["tokens"] == cw.count(PAYLOAD, model="gpt-4o").tokens
    assert [unit["place"] for unit in found["units"]] == ["messages[0]"]
    assert found["problems"] == []
    assert found["request"] == msgspec.json.decode(msgspec.json.encode(client.store.request(1)))


def test_bodies_are_given_byte_for_byte(client: Client) -> None:
    body = b'{"model": "gpt-4o",   "messages": []}'
    number = recorded(client.store, body)
    answer = client.call(f"/requests/{number}/body")
    assert (answer.body, answer.headers["content-type"]) == (body, "application/octet-stream")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.call(f"/requests/{number}/body?part=reply").status == 404


def test_a_body_that_is_not_json_has_only_figures(client: Client) -> None:
    number = recorded(client.store, b"\xff\x00")
    found = client.call(f"/requests/{number}").json
    assert (found["payload"], found["count"], found["units"]) == (None, None, [])
    assert client.call(f"/requests/{number}/replay?format=gemini").status == 404


def test_a_replay_is_a_conversion(client: Client) -> None:
    found = client.call("/requests/1/replay?format=anthropic&model=claude-sonnet-5-5").json
    own = cw.convert(PAYLOAD, "openai-chat", "anthropic", model="claude-sonnet-5-5")
    assert found["payload"] == own.payload
    assert len(found["changes"]) == len(own.changes)


def test_pages_hold_every_request_once(client: Client) -> None:
    for n in range(5):
        recorded(client.store, json.dumps({**PAYLOAD, "n": n}).encode(), "paged")
    seen, before = list[int](), ""
    while True:
        page = client.call(f"/requests?conversation=paged&limit=2{before}").json
        seen += [one["number"] for one in page["requests"]]
        if page["next"] is None:
            break
        before = f"&before={page['next']}"
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 5


HOSTILE = """''''\"\"\"\nJSON\n$(reboot) `reboot` ${HOME} \u2028 \\ é"""


@pytest.mark.parametrize("format", ["openai-chat", "anthropic", "gemini", "openai-responses"])
def test_a_program_holds_the_request_as_data(client: Client, format: str) -> None:
    """Each program is read by its own language, and says exactly what was sent."""
    conversation = cw.Conversation((cw.user(HOSTILE),))
    model = {"anthropic": "claude-sonnet-5-5", "gemini": "gemini-3.8-flash"}.get(format, "gpt-4o")
    payload = cw.render(conversation, format, model=model).payload
    record = replace(PASSED, format=format, upstream_format=format, upstream="x", sent_model=model)
    number = recorded(client.store, json.dumps(payload).encode(), record=record)
    texts = {
        kind: client.call(f"/requests/{number}/export?as={kind}").body.decode()
        for kind in ("curl", "python", "test")
    }
    printed = subprocess.run(
        ["sh", "-c", f"curl() {{ cat; }}; {texts['curl']}"], capture_output=True, check=True
    )
    assert json.loads(printed.stdout) == payload
    for kind in ("python", "test"):
        literals = [
            node.args[0].value
            for node in ast.walk(ast.parse(texts[kind]))
            if isinstance(node, ast.Call)
            and ast.unparse(node.func) == "json.loads"
            and isinstance(node.args[0], ast.Constant)
        ]
        assert [json.loads(str(literal)) for literal in literals] == [payload]


def test_a_translated_request_goes_to_a_host_of_the_api_it_was_written_for(client: Client) -> None:
    """The upstream has no name that the program could know, such as a server of one's own."""
    record = replace(PASSED, format="anthropic", upstream_format="openai-chat", upstream="mine")
    number = recorded(client.store, json.dumps(PAYLOAD).encode(), record=record)
    for kind in ("curl", "python"):
        program = client.call(f"/requests/{number}/export?as={kind}").body.decode()
        assert "https://api.openai.com/v1/chat/completions" in program
        assert "OPENAI_API_KEY" in program


def test_the_exported_test_passes(client: Client) -> None:
    scope: dict[str, Any] = {}
    exec(client.call("/requests/1/export?as=test").body, scope)
    scope["test_request_1"]()


def test_two_recorded_requests_are_compared(client: Client) -> None:
    more = {**PAYLOAD, "messages": [*PAYLOAD["messages"], {"role": "assistant", "content": "Yes."}]}
    other = {**PAYLOAD, "messages": [{"role": "user", "content": "Salad?"}]}
    longer, different = (recorded(client.store, json.dumps(one).encode()) for one in (more, other))
    found = client.call(f"/requests/{longer}/compare?with=1").json
    assert (found["cause"], found["cost"]) == ("nothing changed, only added", 0)
    assert (found["this"]["request"], found["other"]["request"]) == (longer, 1)
    found = client.call(f"/requests/{different}/compare?with=1").json
    assert (found["first_difference"], found["shared"]) == ("messages[0]", 0)


def test_a_context_is_compared_with_a_recorded_request(client: Client) -> None:
    query = "model=gpt-4o&at=5"
    payload = client.call(f"{of()}/payload?{query}").json
    number = recorded(client.store, json.dumps(payload).encode())
    found = client.call(f"{of()}/compare?{query}&with=request:{number}").json
    assert (found["first_difference"], found["share"]) == (None, 1)


def test_what_passes_through_the_gateway_is_served(tmp_path: Path) -> None:
    """The gateway records a request once it is answered, and ends after it has."""
    asked = {"model": "echo", "messages": [{"role": "user", "content": "A risotto, please."}]}
    with served(tmp_path) as client:
        assert client.gateway.ask("/v1/chat/completions", asked).status == 200
    with Store(tmp_path / "store.db", embedder=None) as store, running(store=store) as gateway:
        client = Client(gateway, store)
        [record, _] = client.call("/requests").json["requests"]
        assert (record["state"], record["model"]) == ("answered", "echo")
        found = client.call(f"/requests/{record['number']}").json
        assert found["payload"]["messages"] == asked["messages"]
        messages = client.call(f"{of(record['conversation'])}/messages").json["messages"]
        assert [one["role"] for one in messages] == ["user", "assistant"]
        detail = client.call(of(record["conversation"])).json
        assert detail["recorded"]["requests"] == 1
