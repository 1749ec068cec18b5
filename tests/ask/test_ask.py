"""`ask` against stand-ins that enforce each provider's rules."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.ask import record_of
from contextwright.formats.replies.events import ReplyError, TextDelta
from contextwright.formats.replies.reply import ModelReply
from contextwright.providers import Script
from providers.standin import (
    BreakOff,
    Dribble,
    Request,
    StandIn,
    serving,
)
from samples.asking import FORMATS, MODELS, TOOLS, answered, per_format, providers


@pytest.fixture
def store(empty_store: Path, tmp_path: Path) -> Iterator[cw.Store]:
    place = tmp_path / "store.db"
    place.write_bytes(empty_store.read_bytes())
    with cw.Store(place, sync="fast", embedder=None) as opened:
        yield opened


class Model:
    """Answers as a model does: thinks, calls two tools at once, then answers."""

    def __init__(self, server: StandIn) -> None:
        self.server = server
        self.called = 0

    def __call__(self, request: Request) -> ModelReply:
        format, model = request.format, request.model
        if ends_in_results(request.body):
            return answered(cw.assistant(f"Answer after {self.called} calls."))
        self.called += 1
        signature = self.server.sign(format, model)
        number = self.called
        ids = (f"toolu_{number}a", f"toolu_{number}b") if format != "gemini" else (None, None)
        signed = {"gemini": {"thoughtSignature": signature}} if format == "gemini" else {}
        calls = [
            cw.ToolCall("weather", {"city": f"City{number}"}, ids[0], extra=signed),
            cw.ToolCall("distance", {"start": "Kyiv", "end": f"Place{number}"}, ids[1]),
        ]
        thinking = cw.Thinking(
            f"Thought {number}.",
            signature=None if format in ("gemini", "openai-chat") else signature,
            origin=format,
            model=model,
        )
        parts = [f"Looking {number} up.", *calls]
        return answered(cw.assistant(parts if format == "openai-chat" else [thinking, *parts]))


def ends_in_results(body: dict[str, Any]) -> bool:
    """Whether the last thing in a request is a tool's result."""
    last = (body.get("messages") or body.get("contents") or body.get("input"))[-1]  # pyright: ignore
    told = json.dumps(last)
    return any(
        mark in told
        for mark in ('"role": "tool"', "function_call_output", "functionResponse", "tool_result")
    )


# --- a long conversation -------------------------------------------------------------------------


class Weather:
    """A model behind a network: limits, overload, broken and slow streams in turn."""

    def __init__(self, server: StandIn) -> None:
        self.model = Model(server)

    def __call__(self, request: Request) -> Any:
        if request.number % 7 == 3:
            return ReplyError("rate_limit", "Slow down", 429, None, 2.0)
        if request.number % 11 == 5:
            return ReplyError("overloaded", "Overloaded", 529)
        reply = self.model(request)
        if request.number % 9 == 4:
            return BreakOff(reply, 1)
        return Dribble(reply) if request.number % 5 == 2 else reply


@pytest.mark.parametrize(
    ("turns", "budget"),
    [
        pytest.param(8, 1_500),
        pytest.param(60, 200_000, marks=pytest.mark.slow),
        pytest.param(60, 2_500, marks=pytest.mark.slow),
    ],
)
def test_turns_with_another_provider_each(store: cw.Store, turns: int, budget: int) -> None:
    chat = store.conversation("long")
    recipe = cw.Recipe(system="Be brief.", budget=budget)
    with serving() as server, providers(server) as hosts:
        server.answers = [Weather(server)]
        for turn in range(turns):
            format = FORMATS[turn % 4]
            options: dict[str, Any] = {
                "recipe": recipe,
                "provider": hosts[format],
                "tools": TOOLS,
                "key": f"turn-{turn}",
            }
            for _ in range(4):  # a broken answer is asked for again, with the same key
                answer = chat.ask(f"Question {turn}?", model=MODELS[format], **options)
                assert answer.finish in ("stop", "error")
                if answer.finish == "stop":
                    break
            assert answer.text.startswith("Answer after")  # pyright: ignore
        assert server.refused == []
        assert all(
            cw.count(body, model=MODELS[name], format=name).tokens <= budget
            for name, body in bodies(server)
        )
        # Every signature came home: two providers sign calls or thinking in a loop of tools.
        assert len(server.returned) > turns / 3
        last = json.dumps(server.bodies[-1])
    said = [stored for stored in chat.read() if stored.message.visibility == "public"]
    questions = [stored.message.text for stored in said if stored.message.role == "user"]
    assert questions == [f"Question {turn}?" for turn in range(turns)]
    answers = [one.message for one in said if one.message.role == "assistant"]
    assert len(answers) == 2 * turns
    if budget == 200_000:
        for number in (1, 30, 59):
            assert f"Question {number}?" in last
        for message in answers[:-1]:
            assert all(part.text in last for part in message.parts if isinstance(part, cw.Text))
            assert all(call.arguments.get("city", "") in last for call in message.calls)


def bodies(server: StandIn) -> Iterator[tuple[str, dict[str, Any]]]:
    for body in server.bodies:
        if "contents" in body:
            yield "gemini", body
        elif "input" in body:
            yield "openai-responses", body
        else:
            yield ("anthropic" if body["model"].startswith("claude") else "openai-chat"), body


# --- stopped anywhere ----------------------------------------------------------------------------


class Stopped(Exception):
    """Whoever reads the events goes away."""


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
@per_format
def test_stopped_at_any_event_the_next_request_is_legal(
    store: cw.Store, format: str, step: int
) -> None:
    """Whatever is stored then, the same provider and the next one take it."""
    other = FORMATS[(FORMATS.index(format) + 1) % 4]
    with serving() as server, providers(server) as hosts:
        server.answers = [Model(server)]

        def ask(chat: cw.Chat, text: str, format: str = format) -> Iterator[Any]:
            host, model = hosts[format], MODELS[format]
            return chat.ask_stream(text, model=model, provider=host, tools=TOOLS, key=text)

        whole = len(list(ask(store.conversation("whole"), "Question?")))
        assert whole > 20
        for number in range(0, whole, step):
            chat = store.conversation(f"stopped {number}")
            events = ask(chat, "Question?")
            for _ in range(number + 1):
                next(events)
            events.close()  # pyright: ignore
            if number % 3 == 0:  # the same question again goes on, or starts again
                *_, answer = ask(chat, "Question?")
                assert answer.text.startswith("Answer")
                said = [one for one in chat.read() if one.message.visibility == "public"]
                assert [one.message.role for one in said].count("user") == 1
            *_, answer = ask(chat, "And now?", other if number % 2 else format)
            assert answer.text.startswith("Answer")
        assert server.refused == []


def test_a_stopped_answer_keeps_what_came(store: cw.Store) -> None:
    chat = store.conversation("c")
    script = Script([cw.assistant("One two three four five six seven eight.")])
    events = chat.ask_stream("Count.", model="gpt-5.6-sol", provider=script)
    came = ""
    for event in events:
        came += event.text if isinstance(event, TextDelta) else ""
        if len(came) > 20:
            break
    events.close()  # pyright: ignore
    message = chat.tail(1)[0].message
    assert message.text == came
    assert message.meta["finish"] == "interrupted"
    record = record_of(message)
    assert record is not None
    assert record.estimated
    assert record.usage.output > 0


def test_a_cancelled_task_keeps_what_came(empty_store: Path, tmp_path: Path) -> None:
    place = tmp_path / "store.db"
    place.write_bytes(empty_store.read_bytes())
    script = Script([cw.assistant("One two three four five six seven eight.")])

    async def listen(chat: cw.AsyncChat, first: asyncio.Event) -> None:
        stream = chat.ask_stream("Count.", model="gpt-5.6-sol", provider=script)
        async with aclosing(stream) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    first.set()
                    await asyncio.Event().wait()  # for ever

    async def run() -> list[cw.StoredMessage]:
        async with cw.AsyncStore(place, embedder=None) as store:
            chat, first = store.conversation("c"), asyncio.Event()
            task = asyncio.create_task(listen(chat, first))
            await first.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await chat.tail(5)

    question, answer = asyncio.run(run())
    assert question.message.text == "Count."
    assert answer.message.text == "One two thre"
    assert answer.message.meta["finish"] == "interrupted"


def test_a_tool_that_is_stopped_has_a_result(store: cw.Store) -> None:
    chat = store.conversation("c")
    script = Script([cw.assistant(cw.ToolCall("wait", {}, "c1")), cw.assistant("Never mind.")])

    async def wait() -> str:
        await asyncio.Event().wait()
        return "never"

    events = chat.ask_stream("Wait.", model="gpt-5.6-sol", provider=script, tools=[wait], key="k")
    assert any(event.__class__.__name__ == "StepEnd" for event in events)
    events.close()  # pyright: ignore
    (result,) = chat.tail(1)[0].message.results
    assert result.is_error
    assert "stopped" in result.text
    answer = chat.ask("Wait.", model="gpt-5.6-sol", provider=script, tools=[wait], key="k")
    assert (answer.text, len(answer.steps)) == ("Never mind.", 2)


def test_what_ran_before_a_crash_is_not_run_again(store: cw.Store) -> None:
    """The process died between a call and its result: nobody knows, and the model is told."""
    chat = store.conversation("c")
    call = cw.ToolCall("weather", {"city": "Kyiv"}, "c1")
    chat.add(cw.user("Weather?"), "k")
    chat.add(cw.assistant(call), "k/1")
    ran: list[str] = []

    def weather(city: str) -> str:
        ran.append(city)
        return "sunny"

    script = Script([cw.assistant("I could not find out.")])
    answer = chat.ask("Weather?", model="gpt-5.6-sol", provider=script, tools=[weather], key="k")
    assert ran == []
    assert answer.text == "I could not find out."
    assert "not known whether it ran" in json.dumps(script.requests[0])
