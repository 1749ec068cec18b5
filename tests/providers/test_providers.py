"""Providers, against stand-ins that enforce their rules."""

import asyncio
import re
import threading
from contextlib import aclosing
from typing import Any

import pytest

import contextwright as cw
from contextwright.errors import ProviderError, UsageError
from contextwright.formats.replies.events import ErrorEvent, Event, Finish, ReplyError, TextDelta
from contextwright.providers import (
    HOSTS,
    Echo,
    Host,
    Retries,
    Script,
    SyncProvider,
    connect,
    connect_sync,
    host_for,
)
from paths import DOCS
from providers.standin import KEY, BreakOff, Held, said, serving

MODELS = {
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
}
WEATHER = cw.Tool("weather", "The weather of a city.", {"type": "object", "properties": {}})
QUESTION = cw.Conversation((cw.system("Be brief."), cw.user("How are you?")), (WEATHER,))
per_format = pytest.mark.parametrize("format", MODELS)


def payload(format: str, *more: cw.Message) -> dict[str, Any]:
    conversation = cw.Conversation((*QUESTION.messages, *more), QUESTION.tools)
    return cw.render(conversation, format, model=MODELS[format]).payload


@per_format
def test_the_address_may_stand_in_the_variable_of_the_providers_sdks(
    format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(said("Fine.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.address}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"{server.address}/")
        with connect_sync(format, KEY) as provider:
            assert (
                provider.send(payload(format), model=MODELS[format]).message.text.strip() == "Fine."
            )
    nowhere = "http://127.0.0.1:1"
    for own in (connect(format, KEY, base_url=nowhere), connect(Host("own", format, nowhere), KEY)):
        assert nowhere in repr(own)


@per_format
def test_an_answer_arrives(format: str) -> None:
    call = cw.ToolCall("weather", {"city": "Kyiv"}, "call_1")
    with serving(said("Fine, thanks. ", call)) as server:
        with connect_sync(format, KEY, base_url=server.base_url(format)) as provider:
            events = list(provider.stream(payload(format), model=MODELS[format]))
            reply = provider.send(payload(format), model=MODELS[format])
    words = [event.text for event in events if isinstance(event, TextDelta)]
    assert words[:2] == ["Fine, ", "thanks. "]
    assert isinstance(events[-1], Finish)
    assert reply.finish == "tool_calls"
    assert reply.message.text.strip() == "Fine, thanks."
    assert [(c.name, c.arguments, c.id) for c in reply.message.calls] == [
        ("weather", {"city": "Kyiv"}, "call_1")
    ]
    streams = [body.get("stream", format == "gemini") for body in server.bodies]
    assert streams == [True, True]


@per_format
def test_an_answer_arrives_in_an_event_loop(format: str) -> None:
    async def ask(address: str) -> cw.Conversation:
        async with connect(format, KEY, base_url=address) as provider:
            return await provider.send(payload(format), model=MODELS[format])

    with serving(said("Fine")) as server:
        reply = asyncio.run(ask(server.base_url(format)))
    assert reply.messages[0].text.strip() == "Fine"


@per_format
def test_a_request_that_breaks_the_rules_is_refused(format: str) -> None:
    """An unanswered call: the stand-in answers 400 as the real API does."""
    asked = cw.assistant([cw.ToolCall("weather", {}, "call_1")])
    broken = cw.render(
        cw.Conversation((*QUESTION.messages, asked, cw.user("And?")), QUESTION.tools),
        format,
        model=MODELS[format],
        repair=False,
    ).payload
    with serving(said("never")) as server:
        provider = connect_sync(format, KEY, base_url=server.base_url(format))
        with provider, pytest.raises(ProviderError) as caught:
            provider.send(broken, model=MODELS[format])
        assert len(server.bodies) == 1  # asking again would not help
    assert (caught.value.kind, caught.value.status) == ("invalid", 400)


@per_format
@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (ReplyError("rate_limit", "Slow down", 429, None, 3.0), [3.0]),
        (ReplyError("overloaded", "Overloaded", 529), None),
        (ReplyError("server", "Oops", 500), None),
    ],
    ids=["429", "529", "500"],
)
def test_what_may_pass_is_tried_again(
    format: str, error: ReplyError, waits: list[float] | None
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    with serving(error, said("Fine")) as server:
        address = server.base_url(format)
        with connect_sync(format, KEY, base_url=address, sleep=sleep) as provider:
            reply = provider.send(payload(format), model=MODELS[format])
        assert len(server.bodies) == 2
    assert reply.message.text.strip() == "Fine"
    assert slept == waits or (waits is None and len(slept) == 1 and 0.25 <= slept[0] <= 0.5)


def test_retries_have_an_end() -> None:
    limit = ReplyError("rate_limit", "Slow down", 429, None, 3.0)

    async def sleep(seconds: float) -> None:
        pass

    with serving(limit) as server:
        provider = connect_sync(
            "anthropic", KEY, base_url=server.base_url("anthropic"), sleep=sleep
        )
        with provider, pytest.raises(ProviderError, match="Slow down") as caught:
            provider.send(payload("anthropic"), model=MODELS["anthropic"])
        assert len(server.bodies) == 3
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limit", 3.0)


@pytest.mark.parametrize(
    ("error", "tried", "wait"),
    [
        (ReplyError("server", "m", 502), 0, 0.5),
        (ReplyError("server", "m", 502), 1, 1.0),
        (ReplyError("server", "m", 502), 2, None),
        (ReplyError("rate_limit", "m", 429, None, 61.0), 0, None),
        (ReplyError("rate_limit", "m", 429, None, 0.0), 0, 0.0),
        (ReplyError("billing", "m", 429), 0, None),
        (ReplyError("invalid", "m", 400), 0, None),
        (ReplyError("connection", "m"), 0, 0.5),
        (ReplyError("timeout", "m", 504), 0, None),
    ],
)
def test_waits(error: ReplyError, tried: int, wait: float | None) -> None:
    assert Retries().wait(error, tried, lambda: 1.0) == wait


@per_format
def test_a_broken_answer_keeps_what_came_and_is_not_asked_again(format: str) -> None:
    with serving(BreakOff(said("One two three four"), 2)) as server:
        with connect_sync(format, KEY, base_url=server.base_url(format)) as provider:
            reply = provider.send(payload(format), model=MODELS[format])
        assert len(server.bodies) == 1
    assert reply.message.text == "One two "
    assert reply.finish == "error"
    assert reply.error is not None
    assert reply.error.kind == "connection"
    assert reply.message.meta == {"finish": "error"}


@per_format
def test_pieces_arrive_while_the_model_still_writes(format: str) -> None:
    held = Held(said("One two"), threading.Event(), threading.Event())
    words: list[str] = []
    with serving(held) as server:
        with connect_sync(format, KEY, base_url=server.base_url(format)) as provider:
            for event in provider.stream(payload(format), model=MODELS[format]):
                if isinstance(event, TextDelta):
                    words.append(event.text)
                    held.go.set()  # the second word is sent only after the first was read
    assert words == ["One ", "two "]


@per_format
def test_closing_the_stream_reaches_the_provider(format: str) -> None:
    held = Held(said("One two"), threading.Event(), threading.Event())
    with serving(held) as server:
        with connect_sync(format, KEY, base_url=server.base_url(format)) as provider:
            events = provider.stream(payload(format), model=MODELS[format])
            assert any(isinstance(event, TextDelta) for event in events)
            events.close()  # pyright: ignore
            assert held.noticed.wait(10)


def test_cancelling_a_task_reaches_the_provider() -> None:
    held = Held(said("One two"), threading.Event(), threading.Event())

    async def ask(address: str) -> list[Event]:
        seen: list[Event] = []
        first = asyncio.Event()

        async def listen() -> None:
            async with connect("anthropic", KEY, base_url=address) as provider:
                stream = provider.stream(payload("anthropic"), model=MODELS["anthropic"])
                async with aclosing(stream) as events:
                    async for event in events:
                        seen.append(event)
                        if isinstance(event, TextDelta):
                            first.set()

        task = asyncio.create_task(listen())
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    with serving(held) as server:
        seen = asyncio.run(ask(server.base_url("anthropic")))
        assert held.noticed.wait(10)
    assert not any(isinstance(event, Finish | ErrorEvent) for event in seen)


# --- keys and hosts ------------------------------------------------------------------------------


@per_format
def test_keys_are_shown_nowhere(format: str) -> None:
    wrong = "sk-wrong-9876543210"
    with serving(said("never")) as server:
        provider = connect_sync(format, wrong, base_url=server.base_url(format))
        with provider, pytest.raises(ProviderError) as caught:
            provider.send(payload(format), model=MODELS[format])
    assert caught.value.kind == "authentication"
    shown = f"{caught.value!s} {caught.value!r} {provider!r} {provider.provider!r}"
    assert wrong not in shown
    assert "_API_KEY" in caught.value.hint


def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ProviderError, match="set ANTHROPIC_API_KEY"):
        connect("anthropic")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with serving(said("Fine")) as server:
        with connect_sync("anthropic", base_url=server.address) as provider:
            reply = provider.send(payload("anthropic"), model=MODELS["anthropic"])
    assert reply.finish == "stop"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("anthropic", "anthropic"),
        ("openai-chat", "openai"),
        ("claude-sonnet-5-5", "anthropic"),
        ("gemini-3.8-flash", "gemini"),
        ("deepseek-chat", "deepseek"),
        ("ollama", "ollama"),
    ],
)
def test_hosts_are_found(target: str, name: str) -> None:
    assert host_for(target) == HOSTS[name]


def test_an_unknown_host_is_an_error() -> None:
    with pytest.raises(UsageError, match="no host is known"):
        host_for("qwen3-coder")
    own = Host("mine", "openai-chat", "http://127.0.0.1:1/v1")
    assert host_for(own) is own
    assert host_for("qwen3-coder", "http://127.0.0.1:1/v1").format == "openai-chat"


def test_a_host_that_cannot_be_reached() -> None:
    own = Host("mine", "openai-chat", "http://127.0.0.1:1/v1")
    provider = connect_sync(own, retries=Retries(limit=0))
    with provider, pytest.raises(ProviderError) as caught:
        provider.send(payload("openai-chat"), model="m")
    assert caught.value.kind == "connection"


# --- offline -------------------------------------------------------------------------------------


def test_echo_answers_without_a_network() -> None:
    with SyncProvider(connect("echo")) as provider:
        reply = provider.send(payload("openai-chat"), model="echo")
    assert reply.message.text == "How are you?"
    assert reply.model == "echo"
    gemini = SyncProvider(Echo("gemini"))
    with gemini:
        assert gemini.send(payload("gemini"), model="echo").message.text == "How are you?"


def test_a_script_plays_a_recorded_conversation() -> None:
    call = cw.ToolCall("weather", {"city": "Kyiv"}, "call_1")
    recorded = cw.Conversation(
        (
            cw.user("Weather?"),
            cw.assistant([call]),
            cw.tool_result("call_1", "Sun"),
            cw.assistant("Sun."),
        )
    )
    script = Script(recorded)
    with SyncProvider(script) as provider:
        first = provider.send(payload("openai-chat"), model="m")
        second = provider.send(payload("openai-chat"), model="m")
        with pytest.raises(UsageError, match="all were used"):
            provider.send(payload("openai-chat"), model="m")
    assert first.message.calls == (call,)
    assert (second.message.text, second.finish) == ("Sun.", "stop")
    assert len(script.requests) == 3
    broken = SyncProvider(Script([ReplyError("overloaded", "Busy", 529)]))
    with broken, pytest.raises(ProviderError, match="Busy"):
        broken.send({}, model="m")


def test_no_second_loop_inside_a_loop() -> None:
    async def ask() -> None:
        SyncProvider(Echo()).send(payload("openai-chat"), model="echo")

    with pytest.raises(UsageError, match="event loop is running"):
        asyncio.run(ask())


def test_the_page_of_providers_runs() -> None:
    page = (DOCS / "providers.md").read_text("utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(block, {})
