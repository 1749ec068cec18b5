"""Histories of clients with habits of their own: each message stored once, and no fork."""

import json
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.tools import at_home
from contextwright.store.requests import RecordedFork
from providers.standin import KEY, Request, said, serving
from serve.claude_code import ClaudeCode
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


def test_agents_of_a_session_are_conversations_of_their_own(tmp_path: Path) -> None:
    """Side by side or one after the other: only one that begins anew has compacted its history."""
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with serving(lambda request: said(f"Answer {request.number}.")) as server:
            settings = open_settings("anthropic", server)
            with running(settings, store=store) as gateway:
                main = ClaudeCode(gateway.address)
                main.ask("Start two agents.")
                one, other = (ClaudeCode(gateway.address, agent=name) for name in ("a1", "a2"))
                one.ask("Look here.")
                other.ask("Look there.")
                one.ask("And on?")
                other.ask("And on?")
                main.ask("Start another.")
                ClaudeCode(gateway.address, agent="a3").ask("Look everywhere.")
                one.messages = []
                one.ask("A summary of it all.")
        records = store.requests()[::-1]
    name = "claude-code/5e551011"
    assert [record.conversation for record in records] == [
        *(name, f"{name}~2", f"{name}~3", f"{name}~2", f"{name}~3", name, f"{name}~7", f"{name}~8")
    ]
    forks = [record.fork for record in records]
    assert forks == [*[None] * 7, RecordedFork(f"{name}~2", 0, "compaction")]


def test_agents_that_are_given_the_same_task_are_two_conversations(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with serving(lambda request: said(f"Answer {request.number}.")) as server:
            with running(open_settings("anthropic", server), store=store) as gateway:
                agents = [ClaudeCode(gateway.address, agent=name) for name in ("a1", "a2")]
                for question in ("Look here.", "And on?"):
                    for agent in agents:
                        agent.ask(question)
                agents[1].messages = agents[1].messages[:3]
                agents[1].ask("Or so?")
        records = store.requests()[::-1]
        sizes = [len([*store.conversation(one.conversation or "").read()]) for one in records]
    name = "claude-code/5e551011"
    two = [name, f"{name}~2"]
    assert [record.conversation for record in records] == [*two, *two, f"{name}~5"]
    assert [record.fork for record in records] == [
        *[None] * 4,
        RecordedFork(f"{name}~2", 4, "rewind"),
    ]
    assert sizes == [6] * 5


@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "left out"])
def test_what_says_nothing_is_stored_once_too(keeps: bool, tmp_path: Path) -> None:
    """Items of the provider's own alone; not every client sends these back."""
    trigger, hello = ({"type": "compaction_trigger"}, {"role": "user", "content": "Hello?"})
    compaction = cw.Opaque("openai-responses", {"type": "compaction", "encrypted_content": "x"})
    history: list[dict[str, Any]] = []

    def answer(request: Request) -> Any:
        return said(compaction if request.body["input"][-1] == trigger else "Answer.")

    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(answer) as server:
        server.signed["x"] = ("openai-responses", "m")
        with running(open_settings("openai-responses", server), store=store) as gateway:
            for asked in (hello, trigger, hello):
                body = {"input": [*history, asked], "store": False}
                replies = [
                    gateway.generate("openai-responses", body, model="m", key=KEY)
                    for _ in range(2)  # it asks again, and is answered the same
                ]
                history += [asked] if asked != trigger else []
                history += replies[0].json["output"] if keeps or asked != trigger else []
        (name,) = {record.conversation for record in store.requests()}
        assert name is not None
        stored = [one.message for one in store.conversation(name).read()]
    kinds = [(message.role, *map(type, message.parts)) for message in stored]
    question, reply = ("user", cw.Text), ("assistant", cw.Text)
    silent = [("user", cw.Opaque), ("assistant", cw.Opaque)]
    assert kinds == [question, reply, *silent, question, reply]
