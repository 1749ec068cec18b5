"""Codex has a long session summed up: also by providers that know no compactions."""

from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.replies.compactions import HEADING, INSTRUCTIONS, MARK
from contextwright.formats.replies.events import ReplyError
from contextwright.formats.replies.reply import ModelReply
from contextwright.serve import GatewaySettings, Route
from contextwright.text.json import decode_json, encode_json
from providers.standin import KEY, FailMidway, Request, said, serving
from serve.gateways import TOKEN, Answer, Running, running
from serve.history.test_continuations import CLIENT, OTHERS, TOOL, user
from serve.test_relay import upstream
from serve.test_translate import reply_of
from serve.upstreams import ENVIRONMENT, MODELS, settings_for

TRIGGER = {"type": "compaction_trigger"}
CALL = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "3"}
SUMMARY = "We added 1 and 2 – it was 3."


def ask(gateway: Running, *items: Any, model: str = "any", streams: bool = False) -> Answer:
    body = {"input": list(items), "tools": TOOL, "store": False}
    return gateway.generate(CLIENT, body, model=model, streams=streams)


def spoken(body: dict[str, Any], format: str) -> list[str]:
    """The texts of a request, and what else it has."""
    parts = [part for message in cw.parse(body, format).messages for part in message.parts]
    return [part.text if isinstance(part, cw.Text) else type(part).__name__ for part in parts]


def compaction_in(answer: Answer, streams: bool) -> dict[str, Any]:
    """The only item of an answer."""
    reply = reply_of(answer.body, CLIENT, streams)
    [part] = reply.message.parts
    assert isinstance(part, cw.Opaque)
    assert part.data["type"] == "compaction"
    return part.data


def summing_up(request: Request) -> ModelReply:
    """Thinks, and writes a summary if that is asked for; some models call a tool all the same."""
    last = cw.parse(request.body, request.format).messages[-1]
    if INSTRUCTIONS not in last.text:
        return said("Done.")
    call = cw.ToolCall("add", {"a": 2}, "c2")
    if request.format == "gemini":
        call = cw.ToolCall("add", {"a": 2}, extra={"gemini": {"thoughtSignature": "c2ln"}})
    return said(cw.Thinking("Hm.", origin=request.format), SUMMARY, call)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("upstream", OTHERS)
def test_other_providers_sum_up_in_words(upstream: str, streams: bool, tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with (
            serving(summing_up) as server,
            running(
                settings_for(upstream, server), environment=ENVIRONMENT, store=store
            ) as gateway,
        ):
            first = ask(gateway, user("1 + 2?"), CALL, RESULT, TRIGGER, streams=streams)
            item = compaction_in(first, streams)
            again = ask(gateway, user("1 + 2?"), item, streams=streams)
            more = [CALL, RESULT, user("Sure?")]
            ask(gateway, user("1 + 2?"), item, *more, streams=streams)
            assert server.refused == []
        records = store.requests()[::-1]
    assert "Done." in reply_of(again.body, CLIENT, streams).message.text
    words = f"{HEADING}\n\n{SUMMARY}"
    assert [spoken(body, upstream) for body in server.bodies] == [
        ["1 + 2?", "ToolCall", "ToolResult", INSTRUCTIONS],
        ["1 + 2?", words],
        ["1 + 2?", words, "ToolCall", "ToolResult", "Sure?"],
    ]
    for record in records:
        assert "repair.compaction" in {change.code for change in record.changes}
        assert record.state == "answered"
    assert records[0].finish == "stop"


@pytest.mark.parametrize("ending", [said(), said(cw.ToolCall("add", {"a": 1}, "c1"))])
def test_an_answer_without_words_is_an_error(ending: ModelReply) -> None:
    with (
        serving(ending) as server,
        running(settings_for("anthropic", server), environment=ENVIRONMENT) as gateway,
    ):
        answer = ask(gateway, user("1 + 2?"), TRIGGER)
    assert answer.status == 500
    assert "no summary" in answer.json["error"]["message"]


def test_an_answer_that_fails_is_no_summary() -> None:
    failure = FailMidway(said("We added 1."), ReplyError("overloaded", "Too much", 529))
    with (
        serving(failure) as server,
        running(settings_for("anthropic", server), environment=ENVIRONMENT) as gateway,
    ):
        answer = ask(gateway, user("1 + 2?"), TRIGGER, streams=True)
    assert b"Too much" in answer.body
    assert MARK.encode() not in answer.body


def test_openai_gets_the_words_of_what_it_cannot_read(tmp_path: Path) -> None:
    """The client changes to a model of OpenAI, which makes the next compaction itself."""
    own = {"type": "compaction", "encrypted_content": "gAAAAA"}
    odd = {"type": "compaction", "encrypted_content": f"{MARK}no base64"}
    with (
        cw.Store(tmp_path / "store.db", sync="fast") as store,
        serving(summing_up) as server,
    ):
        server.signed |= {one["encrypted_content"]: (CLIENT, MODELS[CLIENT]) for one in (own, odd)}
        routes = GatewaySettings(
            (
                Route(MODELS[CLIENT], "openai", base_url=server.base_url(CLIENT), key_variable="K"),
                *settings_for("anthropic", server).routes,
            )
        )
        environment = {**ENVIRONMENT, "K": KEY}
        with running(routes, environment=environment, store=store) as gateway:
            item = compaction_in(ask(gateway, user("1 + 2?"), TRIGGER), False)
            ask(gateway, own, odd, item, user("Sure?"), TRIGGER, model=MODELS[CLIENT])
            ask(gateway, own, odd, TRIGGER, model=MODELS[CLIENT])
        _, record, _ = store.requests()
        passed = store.request_bodies(1).request, store.request_bodies(record.number).request
    assert server.refused == []
    words = {"role": "user", "content": f"{HEADING}\n\n{SUMMARY}"}
    assert server.bodies[1]["input"] == [own, odd, words, user("Sure?"), TRIGGER]
    assert [change.code for change in record.changes] == ["repair.compaction"]
    assert server.bodies[2]["input"] == [own, odd, TRIGGER]
    assert decode_json(passed[0] or b"")["input"][-1] == TRIGGER


QUESTION = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
ANSWER = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
}
SHORTER = [QUESTION, {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}]
USAGE = {"input_tokens": 139, "output_tokens": 438, "total_tokens": 577}


def whole_answer(output: list[Any], **fields: Any) -> bytes:
    """An answer of OpenAI's."""
    return encode_json(
        {"id": "resp_1", "object": "response", "output": output, "usage": USAGE, **fields}
    )


def test_a_shorter_history_of_openai_s_is_recorded_with_the_long_one(tmp_path: Path) -> None:
    """It passes as it is, and says nothing that belongs into the conversation."""
    path, asked = "/v1/responses", {"model": "gpt-5.6-sol", "input": [QUESTION], "store": False}
    with cw.Store(tmp_path / "store.db", sync="fast") as store, upstream() as server:
        route = Route("*", "openai", base_url=f"http://127.0.0.1:{server.server_port}/v1")
        with running(GatewaySettings((route,)), store=store) as gateway:
            headers = {"authorization": f"Bearer {KEY}"}
            server.status, server.headers["content-type"] = 200, "application/json"
            server.body = whole_answer([ANSWER], status="completed", model="gpt-5.6-sol")
            gateway.ask(path, asked, headers)
            server.body = whole_answer(SHORTER, object="response.compaction")
            body = encode_json({**asked, "input": [QUESTION, ANSWER]})
            shorter = gateway.ask(f"{path}/compact", body, headers)
        compacted, before = store.requests()
        assert compacted.conversation is not None
        stored = [one.message.text for one in store.conversation(compacted.conversation).read()]
    assert (shorter.status, shorter.body) == (200, server.body)
    assert server.seen[-1][::2] == (f"{path}/compact", body)
    assert (compacted.conversation, compacted.state) == (before.conversation, "answered")
    assert compacted.usage is not None
    assert (compacted.usage.input, compacted.usage.output) == (139, 438)
    assert compacted.prefix is not None
    assert (compacted.fork, compacted.prefix.cause) == (None, "nothing changed, only added")
    assert stored == ["Hi", "Hello"]


def test_no_other_provider_shortens_a_history() -> None:
    with serving(said("Hello")) as server:
        settings = settings_for("anthropic", server)
        with running(settings, environment=ENVIRONMENT) as gateway:
            headers = {"authorization": f"Bearer {TOKEN}"}
            body = {"model": "m", "input": [QUESTION]}
            answer = gateway.ask("/v1/responses/compact", body, headers)
    assert (answer.status, server.bodies) == (404, [])
