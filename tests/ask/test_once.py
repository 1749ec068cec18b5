"""Each question is asked once, within its limits, and every turn is recorded."""

import asyncio
import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.ask import Answer, record_of
from contextwright.errors import BudgetError, Conflict, ProviderError, UsageError
from contextwright.formats.replies.events import ReplyError, Usage
from contextwright.formats.replies.reply import ModelReply
from contextwright.providers import Script
from providers.standin import (
    KEY,
    serving,
)
from samples.asking import MODELS, TOOLS, answered, per_format, providers, weather


@pytest.fixture
def store(empty_store: Path, tmp_path: Path) -> Iterator[cw.Store]:
    place = tmp_path / "store.db"
    place.write_bytes(empty_store.read_bytes())
    with cw.Store(place, sync="fast", embedder=None) as opened:
        yield opened


def texts(chat: cw.Chat) -> list[str]:
    return [stored.message.text for stored in chat.read()]


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


def test_the_same_key_at_the_same_time_is_a_conflict_that_says_so(store: cw.Store) -> None:
    chat, ran = store.conversation("c"), list[int]()

    def ask_again() -> str:
        ran.append(1)
        script = Script([cw.assistant("Me too.")])
        return chat.ask("Go!", model="gpt-5.6-sol", provider=script, key="k").text

    script = Script([cw.assistant([cw.ToolCall("ask_again", {}, "c1")]), cw.assistant("Done.")])
    with pytest.raises(Conflict, match="another call asks with the key 'k'"):
        chat.ask("Go!", model="gpt-5.6-sol", provider=script, key="k", tools=[ask_again])
    assert chat.ask("Go!", model="gpt-5.6-sol", provider=script, key="k").text == "Me too."
    assert ran == [1]


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
    assert record is not None
    assert record == answer.steps[0]
    assert record.usage == Usage(input=1000, output=50, cached=600)
    assert record.cached == 0.6
    prices = cw.models.find("claude-sonnet-5-5").prices  # pyright: ignore
    paid = (400 * prices.input + 600 * prices.cache_read + 50 * prices.output) / 1_000_000
    assert record.price == pytest.approx(paid)
    calibration = store.calibration("claude-sonnet-5-5")
    assert (calibration.samples, calibration.ratio > 1) == (1, True)
    assert chat.calibration("claude-sonnet-5-5") == calibration
    assert chat.calibration("claude-sonnet-5-5", "openai-chat").samples == 0
    with cw.Store(store.engine.where) as later:
        assert later.calibration("claude-sonnet-5-5").samples == 0
        assert later.conversation("c").calibration("claude-sonnet-5-5") == calibration
    assert record_of(cw.assistant("Hi")) is None


@per_format
def test_the_key_is_nowhere(
    store: cw.Store, format: str, capfd: pytest.CaptureFixture[str], caplog: Any
) -> None:
    """A provider that repeats the key, before an answer and in the middle of one."""
    coded = b64encode(f"user:{KEY}".encode()).decode()
    told = ReplyError("server", f"key {KEY} of {coded} failed", 500, "server_error")
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
    assert not any(KEY in text or coded in text for text in shown)


def test_a_question_that_was_cancelled_while_it_was_stored_is_asked_again(
    empty_store: Path, tmp_path: Path
) -> None:
    place = tmp_path / "store.db"
    place.write_bytes(empty_store.read_bytes())

    async def run() -> set[str]:
        answers: set[str] = set()
        async with cw.AsyncStore(place, sync="fast", embedder=None) as store:
            for number in range(200):
                chat = store.conversation(f"c{number}")
                asking: Any = {"model": "gpt-5.6-sol", "key": "k", "provider": "echo"}
                task = asyncio.create_task(chat.ask("And?", **asking))
                await asyncio.sleep(number % 20 / 10_000)
                task.cancel()
                await asyncio.wait([task])
                answers.add((await chat.ask("And?", **asking)).text)
        return answers

    assert asyncio.run(run()) == {"And?"}


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
