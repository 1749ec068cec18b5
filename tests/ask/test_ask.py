"""`ask` against stand-ins that enforce each provider's rules."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.ask import Answer, record_of
from contextwright.errors import BudgetError, Conflict, ProviderError, UsageError
from contextwright.formats.replies.events import ReplyError, TextDelta, Usage
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.replies.streams import as_reply
from contextwright.providers import Script, SyncProvider, connect_sync
from providers.standin import (
    KEY,
    BreakOff,
    Dribble,
    Request,
    StandIn,
    serving,
)

MODELS = {
    "openai-chat": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
    "openai-responses": "gpt-5.6-sol",
}
FORMATS = tuple(MODELS)
per_format = pytest.mark.parametrize("format", FORMATS)


def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def distance(start: str, end: str) -> dict[str, Any]:
    """The distance between two cities in kilometres."""
    if end == "nowhere":
        raise LookupError("nowhere is not a city")
    return {"from": start, "to": end, "km": len(start) * len(end)}


TOOLS = [weather, distance]


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


def answered(message: cw.Message) -> ModelReply:
    reply = as_reply(message)
    usage = Usage(input=1000, output=50, cached=600)
    return ModelReply(reply.messages, finish=reply.finish, usage=usage)


def ends_in_results(body: dict[str, Any]) -> bool:
    """Whether the last thing in a request is a tool's result."""
    last = (body.get("messages") or body.get("contents") or body.get("input"))[-1]
    told = json.dumps(last)
    return any(
        mark in told
        for mark in ('"role": "tool"', "function_call_output", "functionResponse", "tool_result")
    )


@contextmanager
def providers(server: StandIn) -> Iterator[dict[str, SyncProvider]]:
    """A provider for each API, all at one stand-in; waits take no time."""

    async def sleep(seconds: float) -> None:
        pass

    with ExitStack() as stack:
        yield {
            format: stack.enter_context(
                connect_sync(format, KEY, base_url=server.base_url(format), sleep=sleep)
            )
            for format in FORMATS
        }


def texts(chat: cw.Chat) -> list[str]:
    return [stored.message.text for stored in chat.read()]


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
            assert answer.text.startswith("Answer after")
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


@per_format
def test_stopped_at_every_event_the_next_request_is_legal(store: cw.Store, format: str) -> None:
    """Whatever is stored then, the same provider and the next one take it."""
    other = FORMATS[(FORMATS.index(format) + 1) % 4]
    with serving() as server, providers(server) as hosts:
        server.answers = [Model(server)]

        def ask(chat: cw.Chat, text: str, format: str = format) -> Iterator[Any]:
            host, model = hosts[format], MODELS[format]
            return chat.ask_stream(text, model=model, provider=host, tools=TOOLS, key=text)

        whole = len(list(ask(store.conversation("whole"), "Question?")))
        assert whole > 20
        for number in range(whole):
            chat = store.conversation(f"stopped {number}")
            events = ask(chat, "Question?")
            for _ in range(number + 1):
                next(events)
            events.close()
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


# --- once ---------------------------------------------------------------------------


def test_the_same_key_asks_once(place: str) -> None:
    with cw.Store(place, embedder=None) as store:
        asked_once(store.conversation("c"))


def asked_once(chat: cw.Chat) -> None:
    script = Script([cw.assistant("Fine.")])
    first = chat.ask("How are you?", model="gpt-5.6-sol", provider=script, key="k")
    again = chat.ask("How are you?", model="gpt-5.6-sol", provider=script, key="k")
    assert again == first
    assert len(script.requests) == 1
    assert texts(chat) == ["How are you?", "Fine."]
    with pytest.raises(Conflict, match="another question"):
        chat.ask("Who are you?", model="gpt-5.6-sol", provider=script, key="k")


def test_after_a_refusal_the_same_key_goes_on_with_another_provider(store: cw.Store) -> None:
    chat = store.conversation("c")
    busy = ReplyError("overloaded", "Busy", 529)
    call = cw.ToolCall("weather", {"city": "Kyiv"}, "c1")
    with pytest.raises(ProviderError, match="Busy"):
        chat.ask(
            "Weather?",
            model="gpt-5.6-sol",
            provider=Script([cw.assistant(call), busy]),
            tools=TOOLS,
            key="k",
        )
    other = Script([cw.assistant("Sunny.")], "anthropic")
    answer = chat.ask("Weather?", model="claude-sonnet-5-5", provider=other, tools=TOOLS, key="k")
    assert answer.text == "Sunny."
    assert [step.model for step in answer.steps] == ["gpt-5.6-sol", "claude-sonnet-5-5"]
    assert "sunny in Kyiv" in json.dumps(other.requests[0])
    assert len(chat) == 4


def test_going_on_without_a_question(store: cw.Store) -> None:
    """A loop of tools that another model takes over."""
    chat = store.conversation("c")
    first = Script([cw.assistant(cw.ToolCall("weather", {"city": "Kyiv"}, "c1"))])
    model = "gpt-5.6-sol"
    stopped = chat.ask("Weather?", model=model, provider=first, tools=TOOLS, max_steps=1)
    assert (stopped.finish, len(chat)) == ("max_steps", 3)
    other = Script([cw.assistant("Sunny.")], "gemini")
    assert chat.ask(None, model="gemini-3.8-flash", provider=other, tools=TOOLS).text == "Sunny."
    assert len(chat) == 4


def test_questions_at_once(store: cw.Store) -> None:
    """Their turns interleave; every request is legal, and each gets its own answer."""
    chat = store.conversation("c")
    answers: dict[int, str] = {}
    problems: list[cw.Problem] = []

    def ask(number: int) -> None:
        call = cw.ToolCall("weather", {"city": f"City{number}"}, "c1")
        script = Script([cw.assistant(call), cw.assistant(f"Done {number}.")], "anthropic")
        options: dict[str, Any] = {"provider": script, "tools": TOOLS}
        answers[number] = chat.ask(f"Q{number}?", model="claude-sonnet-5-5", **options).text
        for request in script.requests:
            problems.extend(cw.check(request, "anthropic", model="claude-sonnet-5-5"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: f"Done {number}." for number in range(6)}
    assert problems == []
    assert len(chat) == 24


# --- limits ---------------------------------------------------------------------------


def test_a_price_is_never_exceeded(store: cw.Store) -> None:
    chat = store.conversation("c")
    calls = [cw.assistant(cw.ToolCall("weather", {"city": "Kyiv"}, f"c{n}")) for n in range(9)]
    script = Script([answered(call) for call in calls])
    recipe = cw.Recipe(answer=100)
    asked: dict[str, Any] = {"model": "claude-sonnet-5-5", "tools": TOOLS, "recipe": recipe}
    answer = chat.ask(
        "Weather?", provider=Script(script.answers, "anthropic"), max_price=0.012, **asked
    )
    assert answer.finish == "max_price"
    assert answer.price is not None
    assert 0 < answer.price <= 0.012
    assert 1 < len(answer.steps) < 9
    with pytest.raises(UsageError, match="prices of mine are not known"):
        chat.ask("Weather?", model="mine", provider=script, max_price=0.02)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_steps": 0}, "max_steps"),
        ({"max_price": 0}, "max_price"),
        ({"tool_timeout": 0}, "tool_timeout"),
        ({"tools": [weather, weather]}, "two tools"),
        ({"toools": []}, "no option"),
        ({"tools": [lambda x: x]}, "cannot be a tool's name"),
    ],
)
def test_wrong_options(store: cw.Store, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        store.conversation("c").ask("Hi", model="gpt-5.6-sol", provider=Script([]), **options)
    assert list(store.list()) == []


def test_a_question_that_does_not_fit_is_refused_and_spoils_nothing(store: cw.Store) -> None:
    chat = store.conversation("c")
    recipe = cw.Recipe(budget=300)
    with pytest.raises(BudgetError):
        chat.ask("word " * 500, model="echo", recipe=recipe)
    assert chat.ask("And now?", model="echo", recipe=recipe).text == "And now?"


def test_an_empty_answer_spoils_nothing(store: cw.Store) -> None:
    chat = store.conversation("c")
    silent = ModelReply((cw.Message("assistant"),), finish="stop")
    script = Script([silent, cw.assistant("Yes.")], "anthropic")
    options: dict[str, Any] = {"model": "claude-sonnet-5-5", "provider": script}
    assert chat.ask("Hello?", **options).text == ""
    assert chat.ask("Anyone?", **options).text == "Yes."
    assert cw.check(script.requests[1], "anthropic", model="claude-sonnet-5-5") == []


def test_a_result_that_does_not_fit_is_cut_in_the_request_alone(store: cw.Store) -> None:
    chat = store.conversation("c")
    script = Script([cw.assistant(cw.ToolCall("read", {}, "c1")), cw.assistant("Long.")])

    def read() -> str:
        return "word " * 20_000

    answer = chat.ask("Read.", model="gpt-5.6-sol", provider=script, tools=[read], budget=1_000)
    assert answer.text == "Long."
    assert cw.count(script.requests[1], model="gpt-5.6-sol", format="openai-chat").most <= 1_000
    assert chat.tail(2)[0].message.results[0].text == "word " * 20_000


# --- what is recorded ---------------------------------------------------------------------------


def test_each_turn_has_its_usage_and_price(store: cw.Store) -> None:
    chat = store.conversation("c")
    script = Script([answered(cw.assistant("Fine."))], "anthropic")
    answer = chat.ask("How are you?", model="claude-sonnet-5-5", provider=script)
    record = record_of(chat.tail(1)[0].message)
    assert record == answer.steps[0]
    assert record.usage == Usage(input=1000, output=50, cached=600)
    assert record.cached == 0.6
    prices = cw.models.find("claude-sonnet-5-5").prices  # pyright: ignore
    paid = (400 * prices.input + 600 * prices.cache_read + 50 * prices.output) / 1_000_000
    assert record.price == pytest.approx(paid)
    calibration = store.calibration("claude-sonnet-5-5")
    assert (calibration.samples, calibration.ratio > 1) == (1, True)
    assert record_of(cw.assistant("Hi")) is None


@per_format
def test_the_key_is_nowhere(
    store: cw.Store, format: str, capfd: pytest.CaptureFixture[str], caplog: Any
) -> None:
    """A provider that repeats the key, before an answer and in the middle of one."""
    told = ReplyError("server", f"key {KEY} of {KEY} failed", 500, "server_error")
    chat = store.conversation("c")
    with serving() as server, providers(server) as hosts:
        broken = ModelReply((cw.assistant("Well, "),), finish="error", error=told)
        server.answers = [broken, told]
        options: dict[str, Any] = {"model": MODELS[format], "provider": hosts[format]}
        events = list(chat.ask_stream("Hi", **options))
        with pytest.raises(ProviderError) as caught:
            chat.ask("Hi again", **options)
    assert isinstance(events[-1], Answer)
    assert events[-1].finish == "error"
    assert "failed" in str(events[-1].error)
    shown = [*map(repr, events), str(caught.value), repr(caught.value), caplog.text]
    shown += [*map(repr, chat.read()), *capfd.readouterr()]
    assert not any(KEY in text for text in shown)


def test_async_chats_ask_too(empty_store: Path, tmp_path: Path) -> None:
    place = tmp_path / "store.db"
    place.write_bytes(empty_store.read_bytes())

    async def run() -> Answer:
        async with cw.AsyncStore(place, embedder=None) as store:
            script = Script(
                [cw.assistant(cw.ToolCall("weather", {"city": "Kyiv"}, "c1")), cw.assistant("Sun.")]
            )
            chat = store.conversation("c")
            return await chat.ask("Weather?", model="gpt-5.6-sol", provider=script, tools=TOOLS)

    answer = asyncio.run(run())
    assert (answer.text, answer.seqs) == ("Sun.", (1, 2, 3, 4))


def test_tools_that_the_caller_runs(store: cw.Store) -> None:
    chat = store.conversation("c")
    calls = [cw.ToolCall("weather", {"city": "Kyiv"}, "c1"), cw.ToolCall("buy", {}, "c2")]
    script = Script([cw.assistant(calls), cw.assistant("Done.")])
    tools: list[Callable[..., Any] | cw.Tool] = [weather, cw.Tool("buy", "Buy it.")]
    asked = chat.ask("Buy it.", model="gpt-5.6-sol", provider=script, tools=tools)
    assert (asked.finish, [call.name for call in asked.calls]) == ("tool_calls", ["weather", "buy"])
    chat.add(cw.tool_result("c2", "bought"))
    answer = chat.ask(None, model="gpt-5.6-sol", provider=script, tools=tools)
    assert answer.text == "Done."
    assert json.dumps(script.requests[1]).count("sunny in Kyiv") == 1
