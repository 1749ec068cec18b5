"""Histories of clients with habits of their own: each message stored once, and no fork."""

import json
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.tools import at_home
from providers.standin import KEY, Request, said, serving
from serve.gateways import TOKEN, Running, running
from serve.upstreams import ENVIRONMENT, FORMATS, open_settings, settings_for

NAMESPACE = {
    "type": "namespace",
    "name": "functions",
    "description": "All that is there",
    "tools": [
        {"type": "custom", "name": "exec", "description": "Run a script"},
        {"type": "function", "name": "wait", "parameters": {"type": "object"}},
    ],
}
"""Codex has its tools in namespaces, in the first item or in the field of tools."""
PLACES: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "item": ({}, [{"type": "additional_tools", "role": "developer", "tools": [NAMESPACE]}]),
    "field": ({"tools": [NAMESPACE]}, []),
}
ROUNDS = 3


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("upstream", FORMATS)
def test_calls_of_namespaced_tools_are_no_forks(upstream: str, place: str, tmp_path: Path) -> None:
    """A reply calls `exec` of a namespace; the request after it has the tool as one of many."""

    def answer(request: Request) -> Any:
        if request.number == ROUNDS:
            return said("Done.")
        request_tools = cw.parse(request.body, request.format).tools
        calls = []
        for tool in request_tools:
            assert isinstance(tool, cw.Tool)
            arguments = {"input": "1 + 1"} if tool.name.endswith("exec") else {}
            call = cw.ToolCall(tool.name, arguments, f"call_{tool.name}_{request.number}")
            calls.append(at_home(call, tool.name, tool, request.format))
        return said("Wait.", *calls)

    fields, items = PLACES[place]
    body = {"model": "gpt-5.6-sol", "store": False, **fields}
    history = [*items, {"type": "message", "role": "user", "content": "Go"}]
    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(answer) as server:
        passes = upstream == "openai-responses"
        settings = (open_settings if passes else settings_for)(upstream, server)
        with running(settings, environment=ENVIRONMENT, store=store) as gateway:
            for _ in range(ROUNDS + 1):
                history += output_of(gateway, {**body, "input": history}, passes)
        records = store.requests()[::-1]
        assert [record.fork for record in records] == [None] * (ROUNDS + 1)
        (conversation,) = {record.conversation for record in records}
        assert conversation
        stored = [one.message for one in store.conversation(conversation).read()]
    names = [call.name for message in stored for call in message.calls]
    assert names == ["functions__exec", "functions__wait"] * ROUNDS
    assert server.refused == []


def output_of(gateway: Running, body: dict[str, Any], passes: bool) -> list[dict[str, Any]]:
    """The items of an answer, and a result for each call."""
    answer = gateway.generate(
        "openai-responses", body, model=body["model"], key=KEY if passes else TOKEN
    )
    items = json.loads(answer.body)["output"]
    kinds = ("function_call", "custom_tool_call")
    calls = [item for item in items if item["type"] in kinds]
    assert all(item.get("namespace") == "functions" for item in calls)
    return items + [
        {"type": f"{item['type']}_output", "call_id": item["call_id"], "output": "2"}
        for item in calls
    ]
