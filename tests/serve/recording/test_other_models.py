"""A client changes to a model of its own API in mid-conversation: the provider takes all of it."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.reply import ModelReply
from contextwright.serve import GatewaySettings, Route
from contextwright.serve.calls import read_call
from contextwright.serve.relay import without_stand_ins
from contextwright.text.json import encode_json
from providers.standin import KEY, Request, StandIn, said, serving
from serve.gateways import TOKEN, running
from serve.test_relay import UNSIGNED
from serve.test_translate import reply_of
from serve.upstreams import MODELS, PAIRS

TOOL = cw.Tool("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})
OWN_KIND = {"openai-chat": "openai-responses", "openai-responses": "openai-chat"}
LEFT_OUT = {
    "anthropic": ["messages[1].content[0]"],
    "openai-responses": ["input[1]"],
    "gemini": [],
}


def thinking_and_calling(request: Request) -> ModelReply:
    """Thinks and calls twice at once, then answers."""
    if request.number:
        return said("Done.")
    calls = [cw.ToolCall("add", {"a": number}, f"call_{number}") for number in (1, 2)]
    return said(cw.Thinking("Hm.", origin=request.format), "Wait.", *calls)


def calling(request: Request) -> ModelReply:
    """Calls without a word, then answers."""
    return said("Done." if request.number else cw.ToolCall("add", {"a": 1}, "call_1"))


def history_after(client: str, payload: dict[str, Any], answer: Any) -> dict[str, Any]:
    """The request of a client that keeps each answer as it came, with the results of its calls."""
    match client:
        case "openai-responses":
            items = answer["output"]
            calls = [item for item in items if item["type"] == "function_call"]
            results = [
                {"type": "function_call_output", "call_id": call["call_id"], "output": "3"}
                for call in calls
            ]
            return {**payload, "input": [*payload["input"], *items, *results]}
        case "anthropic":
            blocks = answer["content"]
            calls = [block for block in blocks if block["type"] == "tool_use"]
            results = [
                {"type": "tool_result", "tool_use_id": call["id"], "content": "3"} for call in calls
            ]
            turns = [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
            return {**payload, "messages": [*payload["messages"], *turns]}
        case _:
            turn = answer["candidates"][0]["content"]
            calls = [part["functionCall"] for part in turn["parts"] if "functionCall" in part]
            results = [
                {"functionResponse": {"name": call["name"], "response": {"output": "3"}}}
                for call in calls
            ]
            turns = [turn, {"role": "user", "parts": results}]
            return {**payload, "contents": [*payload["contents"], *turns]}


def routes_for(client: str, other: str, server: StandIn) -> GatewaySettings:
    """The client's own model goes to its own provider as it is, all others to another API."""
    hosts = {"openai-responses": "openai", "openai-chat": "openrouter"}
    routes = [
        Route(
            pattern,
            hosts.get(format, format),
            base_url=server.base_url(format),
            key_variable="K",
            send_as=name,
        )
        for pattern, format, name in ((MODELS[client], client, None), ("*", other, MODELS[other]))
    ]
    return GatewaySettings(tuple(routes))


@pytest.mark.parametrize(
    ("client", "other"),
    [pair for pair in PAIRS if pair[0] != "openai-chat" and OWN_KIND.get(pair[0]) != pair[1]],
)
def test_its_provider_takes_what_another_model_said(
    client: str, other: str, tmp_path: Path
) -> None:
    with (
        cw.Store(tmp_path / "store.db", sync="fast") as records,
        serving(thinking_and_calling) as server,
    ):
        settings = routes_for(client, other, server)
        with running(settings, environment={"K": KEY}, store=records) as gateway:
            asked = cw.Conversation((cw.user("Add."),), tools=(TOOL,))
            payload = cw.render(asked, client, model="any").payload
            if client == "openai-responses":
                question = {"role": "user", "content": "Add."}
                payload = {**payload, "input": [question], "store": False}
            first = gateway.generate(client, payload, model="any")
            assert first.status == 200
            body = history_after(client, payload, first.json)
            second = gateway.generate(client, body, model=MODELS[client])
        record = records.requests()[0]
    assert (second.status, server.refused) == (200, [])
    assert record.mode == "pass-through"
    assert [one.path for one in record.changes] == LEFT_OUT[client]


CLEARING = {"type": "clear_thinking_20251015", "keep": "all"}
OTHER_EDIT = {"type": "clear_tool_uses_20250919"}


@pytest.mark.parametrize("edits", [None, [CLEARING], [CLEARING, OTHER_EDIT], [OTHER_EDIT]])
@pytest.mark.parametrize("thinks", [True, False], ids=["thinks", "calls at once"])
def test_claude_goes_on_without_thinking_in_a_loop_that_another_model_began(
    thinks: bool, edits: list[dict[str, Any]] | None, tmp_path: Path
) -> None:
    """It refuses an open tool loop without its own thinking, unless it does not think in it."""
    with (
        cw.Store(tmp_path / "store.db", sync="fast") as records,
        serving(thinking_and_calling if thinks else calling) as server,
    ):
        own, other = routes_for("anthropic", "gemini", server).routes
        settings = GatewaySettings((replace(own, model="claude-*"), other))
        with running(settings, environment={"K": KEY}, store=records) as gateway:
            asked = cw.Conversation((cw.user("Add."),), tools=(TOOL,))
            payload = cw.render(asked, "anthropic", model="any").payload
            payload |= {
                "max_tokens": 2_000,
                "thinking": {"type": "enabled", "budget_tokens": 1_024},
            }
            if edits is not None:
                payload["context_management"] = {"edits": edits}
            first = gateway.generate("anthropic", payload, model="any")
            body = history_after("anthropic", payload, first.json)
            headers = {
                "x-api-key": TOKEN,
                "anthropic-version": "2023-06-01",
                "anthropic-beta": "context-management-2025-06-27",
            }
            body["model"] = "claude-sonnet-4-5"
            loop = gateway.ask("/v1/messages", body, headers)
            turn = {"role": "assistant", "content": loop.json["content"]}
            body["messages"] = [*body["messages"], turn, {"role": "user", "content": "Thanks."}]
            closed = gateway.ask("/v1/messages", body, headers)
        after, within, _ = records.requests()
    assert (loop.status, closed.status, server.refused) == (200, 200, [])
    kept = [edit for edit in edits or () if edit is not CLEARING]
    lost = ["thinking", *(["context_management.edits"] if CLEARING in (edits or ()) else [])]
    left_out = LEFT_OUT["anthropic"] if thinks else []
    assert [one.path for one in within.changes] == [*left_out, *lost]
    assert [one.path for one in after.changes] == left_out
    in_loop, behind = server.bodies[-2:]
    assert "thinking" not in in_loop
    assert in_loop.get("context_management", {"edits": []}) == {"edits": kept}
    assert [behind.get(name) for name in ("thinking", "context_management")] == [
        payload.get(name) for name in ("thinking", "context_management")
    ]


@pytest.mark.parametrize(
    ("ids", "mode", "stays"),
    [
        (["call_1"], "enabled", False),
        (["toolu_1", "call_1"], "enabled", False),
        (["toolu_01"], "enabled", True),  # its own client left the thinking out
        (["call_1", "toolu_01"], "enabled", True),
        (["call_1"], "adaptive", True),
        (["call_1"], "disabled", True),
    ],
)
def test_only_for_calls_of_others_claude_does_not_think(
    ids: list[str], mode: str, stays: bool
) -> None:
    turns: list[dict[str, Any]] = [{"role": "user", "content": "Go"}]
    for id in ids:
        call = {"type": "tool_use", "id": id, "name": "add", "input": {}}
        result = {"type": "tool_result", "tool_use_id": id, "content": "3"}
        turns += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    fields = {"model": "claude-sonnet-4-5", "thinking": {"type": mode}, "messages": turns}
    sent = without_stand_ins(read_call("anthropic", "generate", encode_json(fields), {}))
    assert (sent.body == encode_json(fields)) is stays
    assert [one.path for one in sent.changes] == ([] if stays else ["thinking"])
    assert ("thinking" in sent.fields) is stays


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("way", ["previous_response_id", "item_reference"])
def test_openai_gets_the_history_that_its_client_only_names(
    way: str, restarts: bool, tmp_path: Path
) -> None:
    """It cannot know answers of other models, nor their items."""
    client, question = "openai-responses", {"role": "user", "content": "Add."}
    with (
        cw.Store(tmp_path / "store.db", sync="fast") as store,
        serving(thinking_and_calling) as server,
        ExitStack() as stack,
    ):
        settings = routes_for(client, "anthropic", server)
        run = partial(running, settings, environment={"K": KEY}, store=store)
        gateway = stack.enter_context(run())
        tools = cw.render(cw.Conversation((cw.user("x"),), tools=(TOOL,)), client).payload["tools"]
        asked = {"input": [question], "tools": tools}
        first = gateway.generate(client, asked, model="any").json
        if restarts:
            stack.close()
            gateway = stack.enter_context(run())
        results = [
            {"type": "function_call_output", "call_id": item["call_id"], "output": "3"}
            for item in first["output"]
            if item["type"] == "function_call"
        ]
        body = {"tools": tools, "metadata": {"a": "b"}, "previous_response_id": first["id"]}
        if way == "item_reference":
            del body["previous_response_id"]
            named = [{"type": way, "id": item["id"]} for item in first["output"]]
            results = [question, *named, *results]
        body["input"] = results
        second = gateway.generate(client, body, model=MODELS[client])
        stack.close()
        record, before = store.requests()
    assert (second.status, server.refused) == (200, [])
    sent = server.bodies[-1]
    assert {name: sent[name] for name in ("tools", "metadata")} == {
        "tools": tools,
        "metadata": {"a": "b"},
    }
    assert "previous_response_id" not in sent
    kinds = [item.get("type", "message") for item in sent["input"]]
    assert kinds == ["message"] * 2 + ["function_call"] * 2 + ["function_call_output"] * 2
    assert {"repair.history", "loss.thinking"} == {one.code for one in record.changes}
    assert (record.mode, record.conversation) == ("pass-through", before.conversation)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("other", ["openai-chat", "anthropic", "gemini"])
def test_another_provider_gets_the_history_that_openai_stored(
    other: str, streams: bool, tmp_path: Path
) -> None:
    """The client changes from a model of OpenAI to another and back, and names each answer."""
    client, last = "openai-responses", dict[str, str]()
    with (
        cw.Store(tmp_path / "store.db", sync="fast") as store,
        serving(lambda request: said(f"Answer {request.number}.")) as server,
    ):
        settings = routes_for(client, other, server)
        with running(settings, environment={"K": KEY}, store=store) as gateway:
            for number, model in enumerate((MODELS[client], MODELS[client], "any", MODELS[client])):
                body = {"input": f"Question {number}?", **last}
                answer = gateway.generate(client, body, model=model, streams=streams)
                assert answer.status == 200, answer.body
                reply = reply_of(answer.body, client, streams)
                last = {"previous_response_id": reply.extra[client]["id"]}
            stranger = gateway.generate(client, {"input": "And I?", **last}, model="any", key="x")
        records = store.requests()
    assert (stranger.status, server.refused) == (401, [])
    for request, format in zip(server.bodies[2:], (other, client), strict=True):
        words = [one.text.strip() for one in cw.parse(request, format).messages]
        turns = [text for n in range(4) for text in (f"Question {n}?", f"Answer {n}.")]
        assert words == turns[: 5 if format == other else 7]
    assert len({record.conversation for record in records}) == 1


@pytest.mark.parametrize(
    ("id", "stays"),
    [
        (f"rs_{'0a' * 16}_0", False),
        (f"rs_{'0a' * 24}", True),
        (f"rs_{'0a' * 16}", True),
        (f"rs_{'0a' * 16}_0b", True),
    ],
)
def test_only_reasoning_of_our_own_answers_is_left_out(id: str, stays: bool) -> None:
    reasoning = {"type": "reasoning", "id": id, "summary": [], "encrypted_content": None}
    words = {"role": "user", "content": f'"{id}" {UNSIGNED}'}
    body = encode_json({"model": "m", "input": [words, reasoning, words]})
    sent = without_stand_ins(read_call("openai-responses", "generate", body, {}))
    assert (sent.body == body) is stays
    assert (encode_json(reasoning) in sent.body) is stays
    assert sent.body.count(encode_json(words)) == 2
