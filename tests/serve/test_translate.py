"""Every client reaches every upstream: tools, parallel calls, signatures, errors, streams."""

import json
import threading
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.gemini.write import STAND_IN
from contextwright.formats.replies.events import ReplyError
from contextwright.formats.replies.reply import ModelReply
from contextwright.serve import GatewaySettings, Route
from contextwright.serve.calls import read_call
from contextwright.serve.translate import Crossing, cross
from contextwright.text.json import encode_json
from profiles import FAULT, examples
from providers.standin import KEY, BreakOff, Held, Request, said, serving
from serve.gateways import PATHS, TOKEN, running
from serve.test_relay import upstream
from serve.upstreams import (
    ENVIRONMENT,
    FORMATS,
    HOSTS,
    MODELS,
    PAIRS,
    open_settings,
    settings_for,
)
from strategies.traffic import traffic

TOOLS = [
    cw.Tool("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}}),
]

SIGNED = {"gemini": {"thoughtSignature": STAND_IN}}


def request_of(format: str, messages: list[cw.Message]) -> dict[str, Any]:
    conversation = cw.Conversation(tuple(messages), tuple(TOOLS))
    return cw.render(conversation, format, model=MODELS[format]).payload


def crossed(
    client: str, upstream: str, body: dict[str, Any], send_as: str | None = None
) -> Crossing:
    """A client's request on its way to an upstream."""
    call = read_call(client, "generate", encode_json(body), {}, method="any:generateContent")
    route = Route("*", HOSTS.get(upstream, upstream), send_as=send_as)
    said = cw.parse(body, client)
    return cross(call, said, said, route, None)


def reply_of(body: bytes, format: str, streams: bool) -> ModelReply:
    if streams:
        return cw.parse_stream([body], format)
    return cw.parse_reply(json.loads(body), format)


WORD = "word "
"""A token, and five bytes."""


@pytest.mark.parametrize(
    ("model", "words", "given", "most"),
    [
        ("claude-sonnet-5-5", 1, None, 128_000),
        ("claude-sonnet-5-5", 1, 9, 9),
        ("claude-sonnet-4-5", 100_000, None, 64_000),
        ("claude-3-haiku", 1, None, 4_096),
        ("claude-unheard-of", 1, None, 4_096),
    ],
)
def test_an_answer_may_be_as_long_as_the_model_writes(
    model: str, words: int, given: int | None, most: int
) -> None:
    """Clients of other APIs set no limit if they want none, and Anthropic requires one."""
    asked = {"role": "user", "content": WORD * words}
    limit = {} if given is None else {"max_completion_tokens": given}
    body = {"model": model, "messages": [asked], **limit}
    crossing = crossed("openai-chat", "anthropic", body)
    assert crossing.payload["max_tokens"] == most == json.loads(crossing.body)["max_tokens"]
    told = [str(change) for change in crossing.changes if change.path == "max_tokens"]
    reason = f"required by this API and not set; using {most:,}"
    assert told == ([f"invent.max_tokens max_tokens: {reason}"] if given is None else [])


@pytest.mark.parametrize("words", [150_000, 190_000, 250_000])
def test_a_limit_of_ours_leaves_room_for_what_was_said(words: int) -> None:
    asked = {"role": "user", "content": WORD * words}
    body = {"model": "claude-sonnet-4-5", "messages": [asked]}
    limit = crossed("openai-chat", "anthropic", body).payload["max_tokens"]
    assert limit == 4_096 or 4_096 < limit < 200_000 - words


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_a_tool_round_trip(client: str, upstream: str, streams: bool) -> None:
    """Two parallel calls of one tool, signed thinking before them, and a second turn.

    The client sends the thinking back as text, or not at all.
    """

    def answer(request: Request) -> ModelReply:
        if request.number:
            return said("It is 3 and 7.")
        calls = [cw.ToolCall("add", {"a": number}, f"call_{number}") for number in (1, 2)]
        if upstream == "openai-chat":
            return said("Wait.", *calls)
        signature = server.sign(request.format, request.model)
        if upstream == "gemini":
            signed = {"gemini": {"thoughtSignature": signature}}
            return said(cw.ToolCall("add", {"a": 1}, "call_1", extra=signed), calls[1])
        thinking = cw.Thinking("Hm.", signature=signature, origin=upstream)
        return said(thinking, *calls)

    with (
        serving(answer) as server,
        running(settings_for(upstream, server), environment=ENVIRONMENT) as gateway,
    ):
        said_first = [cw.user("What are 1 + 2 and 3 + 4?")]
        first = gateway.generate(
            client, request_of(client, said_first), model="any", streams=streams
        )
        assert first.status == 200, first.body
        reply = reply_of(first.body, client, streams)
        calls = reply.message.calls
        assert [(call.name, call.arguments) for call in calls] == [
            ("add", {"a": 1}),
            ("add", {"a": 2}),
        ]
        assert len({call.id for call in calls}) == 2
        results = [
            cw.tool_result(call.id or "", str(3 + 4 * place)) for place, call in enumerate(calls)
        ]
        parts = [
            (cw.Text(part.text) if streams else None) if isinstance(part, cw.Thinking) else part
            for part in reply.message.parts
        ]
        again = [*said_first, cw.assistant([part for part in parts if part]), *results]
        second = gateway.generate(client, request_of(client, again), model="any", streams=streams)
        assert second.status == 200, second.body
        assert reply_of(second.body, client, streams).message.text.strip() == "It is 3 and 7."
        assert server.refused == []
        assert server.returned == set(server.signed)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@examples(FAULT)
@given(data=st.data(), send_as=st.sampled_from((None, "another")))
def test_the_body_is_the_payload(
    data: st.DataObject, client: str, upstream: str, send_as: str | None
) -> None:
    said = data.draw(traffic(client))
    body = {**cw.render(said, client, model="any").payload, "model": "any"}
    crossing = crossed(client, upstream, body, send_as)
    assert crossing.body == encode_json(crossing.payload)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_errors_cross_with_their_wait(client: str, upstream: str) -> None:
    busy = ReplyError("rate_limit", "Slow down", 429, retry_after=7)
    with (
        serving(busy) as server,
        running(settings_for(upstream, server), environment=ENVIRONMENT) as gateway,
    ):
        answer = gateway.generate(client, request_of(client, [cw.user("Hello")]), model="any")
    assert (answer.status, answer.headers["retry-after"]) == (429, "7")
    assert "Slow down" in str(answer.json)
    assert KEY not in str(answer)


@pytest.mark.parametrize("client", FORMATS)
def test_pieces_come_before_the_answer_ends(client: str) -> None:
    held = Held(said("One two three"), threading.Event(), threading.Event())
    upstream = "gemini" if client == "anthropic" else "anthropic"
    with (
        serving(held) as server,
        running(settings_for(upstream, server), environment=ENVIRONMENT) as gateway,
    ):
        connection = HTTPConnection("127.0.0.1", gateway.port, timeout=30)
        body = {**request_of(client, [cw.user("Hello")]), "model": "any", "stream": True}
        path = PATHS.get(client, "/v1beta/models/any:streamGenerateContent?alt=sse")
        connection.request("POST", path, json.dumps(body), {"x-api-key": TOKEN})
        response, came = connection.getresponse(), b""
        while b"One" not in came:
            came += response.read1(1_000)
        assert b"two" not in came
        held.go.set()
        assert b"three" in response.read()
        connection.close()


def test_what_cannot_cross_is_said() -> None:
    """A setting that the upstream lacks stands in a header."""
    with (
        serving(said("Hello")) as server,
        running(settings_for("anthropic", server), environment=ENVIRONMENT) as gateway,
    ):
        body = {**request_of("openai-chat", [cw.user("Hello")]), "seed": 7}
        del body["reasoning_effort"]
        answer = gateway.generate("openai-chat", body, model="any")
    assert answer.headers["x-contextwright-changes"] == "2; invent.max_tokens, loss.setting"


@pytest.mark.parametrize("client", ["openai-chat", "openai-responses", "gemini"])
def test_the_prompt_is_cached_where_that_must_be_asked_for(client: str) -> None:
    """Of a second request, all that the first one had is marked, and the system text."""
    said_before = [cw.system("Be brief."), cw.user("Hello"), cw.assistant("Yes?"), cw.user("Why?")]
    with (
        serving(said("Hello")) as server,
        running(settings_for("anthropic", server), environment=ENVIRONMENT) as gateway,
    ):
        assert gateway.generate(client, request_of(client, said_before), model="any").status == 200
    [body] = server.bodies
    assert "cache_control" in body["system"][-1]
    assert "cache_control" in body["messages"][-1]["content"][-1]


@pytest.mark.parametrize("key", ["", "wrong", KEY])
def test_the_gateways_key_needs_its_token(key: str) -> None:
    with (
        serving(said("Hello")) as server,
        running(settings_for("anthropic", server), environment=ENVIRONMENT) as gateway,
    ):
        body = request_of("openai-chat", [cw.user("Hello")])
        answer = gateway.generate("openai-chat", body, model="any", key=key)
    assert answer.status == 401
    assert server.bodies == []
    assert TOKEN not in str(answer)


def test_a_recipe_keeps_a_budget() -> None:
    said_before = [cw.user("word " * 900), cw.assistant("yes"), cw.user("Hello")]
    with serving(said("Hello")) as server:
        route = settings_for("anthropic", server).routes[0]
        fitted = GatewaySettings((msgspec.structs.replace(route, recipe="default", budget=600),))
        with running(fitted, environment=ENVIRONMENT) as gateway:
            asked = {**request_of("openai-chat", said_before), "max_completion_tokens": 9_000}
            answer = gateway.generate("openai-chat", asked, model="any")
    assert answer.status == 200, answer.body
    assert "word word" not in str(server.bodies[0])
    assert server.bodies[0]["max_tokens"] == 9_000  # what the client asked for


def test_a_recipe_writes_its_system_text(tmp_path: Path) -> None:
    recipe = tmp_path / "short.toml"
    recipe.write_text('system = ["Be short."]')
    with serving(said("Hello"), said("Hello")) as server:
        route = settings_for("anthropic", server).routes[0]
        short = GatewaySettings((msgspec.structs.replace(route, recipe=str(recipe)),))
        with running(short, environment=ENVIRONMENT) as gateway:
            for _ in range(2):
                body = request_of("openai-chat", [cw.user("Hello")])
                assert gateway.generate("openai-chat", body, model="any").status == 200
    assert [body["system"][0]["text"] for body in server.bodies] == ["Be short."] * 2


def test_a_client_of_gemini_that_asks_for_no_events_gets_a_list() -> None:
    with (
        serving(said("One two three"), BreakOff(said("One two three"), 2)) as server,
        running(settings_for("anthropic", server), environment=ENVIRONMENT) as gateway,
    ):
        body = request_of("gemini", [cw.user("Hello")])
        path = "/v1beta/models/any:streamGenerateContent"
        whole, broken = (gateway.ask(path, body, {"x-goog-api-key": TOKEN}) for _ in range(2))
    assert whole.headers["content-type"] == "application/json; charset=utf-8"
    assert cw.parse_stream(whole.json, "gemini").message.text.strip() == "One two three"
    assert broken.json[-1]["error"]["code"] == 502


def test_a_mended_request_takes_the_betas_of_its_fields_along() -> None:
    """Without them, Anthropic refuses such fields as `context_management`."""
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    headers = {"x-api-key": TOKEN, "anthropic-beta": "context-management-2025-06-27"}
    with (
        serving(said("Hello")) as server,
        running(settings_for("anthropic", server), environment=ENVIRONMENT) as gateway,
    ):
        body = {**request_of("anthropic", [cw.user("Hello")]), "context_management": edits}
        answer = gateway.ask("/v1/messages", body, headers)
    assert answer.status == 200, answer.body
    assert server.bodies[0]["context_management"] == edits


@pytest.mark.parametrize("client", FORMATS)
@pytest.mark.parametrize("status", [204, 302, 304])
def test_an_answer_that_is_neither_whole_nor_an_error_is_an_error(client: str, status: int) -> None:
    with upstream() as server:
        server.status, server.body = status, b""
        base = f"http://127.0.0.1:{server.server_port}"
        route = Route("*", "openrouter", base_url=base, send_as="m", key_variable="UPSTREAM_KEY")
        with running(GatewaySettings((route,)), environment=ENVIRONMENT) as gateway:
            answer = gateway.generate(client, request_of(client, [cw.user("Hello")]), model="any")
    assert answer.status == 502
    assert f"HTTP status {status}" in str(answer.json["error"])


@pytest.mark.parametrize("client", FORMATS)
def test_an_answer_that_cannot_be_read_is_an_error_of_the_upstream(client: str) -> None:
    call = {"id": 7, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    with upstream() as server:
        server.status = 200
        server.body = json.dumps({"choices": [{"index": 0, "message": message}]}).encode()
        base = f"http://127.0.0.1:{server.server_port}"
        route = Route("*", "openrouter", base_url=base, send_as="m", key_variable="UPSTREAM_KEY")
        with running(GatewaySettings((route,)), environment=ENVIRONMENT) as gateway:
            answer = gateway.generate(client, request_of(client, [cw.user("Hello")]), model="any")
    assert answer.status == 502
    assert answer.json["error"]["message"] == (
        "the answer cannot be read: choices[0].message.tool_calls[0].id: must be a string, not 7"
    )


def test_a_request_of_another_api_than_its_paths_is_refused_by_name() -> None:
    """Cursor sends some of its Responses to Chat Completions; what it means is not guessed."""
    took: dict[tuple[str, str], str] = {}
    with running(GatewaySettings((Route("*", "echo"),))) as gateway:
        for client, other in PAIRS:
            body = request_of(other, [cw.user("Hello")])
            answer = gateway.generate(client, {**body, "model": "echo"}, model="echo")
            if answer.status != 200:
                took[client, other] = answer.json["error"]["message"]
    names = {"openai-responses": "input", "gemini": "contents"}
    takers = {
        "messages": "/v1/chat/completions and /v1/messages take `messages`",
        "input": "/v1/responses takes `input`",
        "contents": "/v1beta/models/MODEL:generateContent takes `contents`",
    }
    fields = {pair: [names.get(format, "messages") for format in pair] for pair in PAIRS}
    assert took == {
        pair: f"{own}: required field is missing ({takers[given]})"
        for pair, (own, given) in fields.items()
        if own != given
    }


def test_what_the_upstream_would_refuse_is_mended_on_request() -> None:
    """Gemini CLI sends every result twice in a session that it resumes."""
    call = cw.ToolCall("add", {"a": 1}, "call_1", extra=SIGNED)
    asked = [cw.user("What is 1 + 2?"), cw.assistant([call]), cw.tool_result("call_1", "3")]
    payload = request_of("gemini", [*asked, cw.assistant("It is 3."), cw.user("Thanks")])
    payload["contents"][2]["parts"] *= 2
    with serving(said("Hello")) as server:
        with running(open_settings("gemini", server)) as gateway:
            passed = gateway.generate("gemini", payload, model=MODELS["gemini"], key=KEY)
        with running(settings_for("gemini", server), environment=ENVIRONMENT) as gateway:
            mended = gateway.generate("gemini", payload, model=MODELS["gemini"])
    assert (passed.status, server.bodies[0]) == (400, payload)
    assert (mended.status, mended.headers["x-contextwright-changes"]) == (200, "1; loss.orphan")
    assert len(server.bodies[1]["contents"][2]["parts"]) == 1


def test_a_mended_request_that_only_fills_the_cache_does_so() -> None:
    """Claude refuses to stream it."""
    with serving(said()) as server:
        with running(settings_for("anthropic", server), environment=ENVIRONMENT) as gateway:
            payload = {**request_of("anthropic", [cw.user("Hi")]), "max_tokens": 0}
            answer = gateway.generate("anthropic", payload, model=MODELS["anthropic"])
    assert (server.refused, answer.status) == ([], 200)
    assert [(body["max_tokens"], body.get("stream")) for body in server.bodies] == [(0, None)]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", PATHS)
def test_a_model_that_no_answer_can_name_is_refused_before_anybody_is_asked(
    client: str, streams: bool
) -> None:
    with serving(said("Hi")) as server:
        with running(settings_for("gemini", server), environment=ENVIRONMENT) as gateway:
            payload = request_of(client, [cw.user("Hi")])
            answer = gateway.generate(client, payload, model="a\0b", streams=streams)
    assert (answer.status, server.bodies) == (400, [])
    assert "model cannot be 'a\\x00b'" in answer.json["error"]["message"]
