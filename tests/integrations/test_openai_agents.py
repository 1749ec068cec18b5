"""A session of the OpenAI Agents SDK: items come back as they went in, and fit a budget."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Session, Usage, function_tool
from hypothesis import given
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

import contextwright as cw
from contextwright.integrations.openai_agents import StoreSession
from profiles import STORE, examples
from strategies.bodies import bodies

Result = TypeVar("Result")
MODEL = "gpt-5.6-sol"


def run(work: Callable[[cw.AsyncStore], Awaitable[Result]], path: Path | None = None) -> Result:
    """Work with a store at a path, or with one of its own."""

    async def main(folder: str) -> Result:
        async with cw.AsyncStore(path or Path(folder, "chat.db"), sync="fast") as store:
            return await work(store)

    with TemporaryDirectory() as folder:
        return asyncio.run(main(folder))


def items_of(body: dict[str, Any]) -> list[Any]:
    given = body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


@given(bodies("openai-responses"))
@examples(STORE)
def test_items_come_back_exactly(body: dict[str, Any]) -> None:
    items = items_of(body)

    async def work(store: cw.AsyncStore) -> None:
        session = StoreSession("one", store)
        await session.add_items(items[:3])
        await session.add_items(items[3:])
        assert await session.get_items() == items
        assert await session.get_items(2) == items[-2:]
        assert await session.get_items(0) == []
        popped = [await session.pop_item() for _ in items]
        assert popped == items[::-1]
        assert await session.pop_item() is None
        assert await session.get_items() == []
        await session.add_items(items[:1])
        assert await session.get_items(5) == items[:1]

    run(work)


def test_text_that_no_store_holds_comes_back() -> None:
    call = {
        "type": "function_call",
        "call_id": "c1",
        "name": "cat",
        "arguments": '{"a": "\\u0000"}',
    }
    output = {"type": "function_call_output", "call_id": "c1", "output": "\0\x1b[2J\ud800"}
    items: list[Any] = [{"role": "user", "content": "Read it."}, call, output]

    async def work(store: cw.AsyncStore) -> None:
        await StoreSession("one", store).add_items(items)
        assert await StoreSession("one", store, model=MODEL).get_items() == items
        stored = [one.message async for one in store.conversation("one").read()]
        assert stored[2].results[0].text == "\ufffd\x1b[2J\ufffd"

    run(work)


def test_several_pops_at_once_take_an_item_each() -> None:
    items: list[Any] = [{"role": "user", "content": f"Question {number}"} for number in range(12)]

    async def work(store: cw.AsyncStore) -> None:
        await StoreSession("one", store).add_items(items)
        popped = await asyncio.gather(*(StoreSession("one", store).pop_item() for _ in range(8)))
        assert sorted(map(str, popped)) == sorted(map(str, items[4:]))
        assert await StoreSession("one", store).get_items() == items[:4]

    run(work)


def history(turns: int) -> list[Any]:
    """Turns with a call each, its reasoning before it."""
    return [
        item
        for turn in range(turns)
        for item in (
            {"role": "user", "content": f"Question {turn}"},
            {"type": "reasoning", "id": f"rs_{turn}", "summary": []},
            {
                "type": "function_call",
                "call_id": f"call_{turn}",
                "name": "look",
                "arguments": "{}",
                "id": f"fc_{turn}",
            },
            {"type": "function_call_output", "call_id": f"call_{turn}", "output": "word " * 60},
            {"role": "assistant", "content": f"Answer {turn}"},
        )
    ]


@pytest.mark.parametrize("model", [MODEL, "claude-sonnet-5-5"])
def test_a_budget_trims_whole_exchanges(model: str) -> None:
    items = history(30)

    async def work(store: cw.AsyncStore) -> list[Any]:
        session = StoreSession("one", store, model=model, budget=1_500)
        await session.add_items(items)
        assert await session.get_items(1) == items[-1:]
        return await session.get_items()

    stayed = run(work)
    assert 5 < len(stayed) < len(items)
    assert all(item in items for item in stayed)
    assert stayed[-5:] == items[-5:]
    assert cw.check({"model": MODEL, "input": stayed}, "openai-responses") == []
    assert cw.count({"model": MODEL, "input": stayed}, model=MODEL).tokens <= 1_500
    kinds = [item.get("type") for item in stayed]
    assert kinds.count("reasoning") == kinds.count("function_call")


def test_what_others_change_in_the_store_is_seen() -> None:
    async def work(store: cw.AsyncStore) -> list[Any]:
        chat, session = store.conversation("one"), StoreSession("one", store)
        await chat.add([cw.user("from elsewhere"), cw.assistant("noted")])
        await session.add_items([{"role": "user", "content": "secret"}])
        await session.add_items([{"role": "user", "content": "typo"}])
        await chat.hide(3)
        await chat.edit(4, "no typo")
        return await session.get_items()

    told = run(work)
    assert "secret" not in str(told)
    assert [cw.parse([item], "openai-responses").messages[0].text for item in told] == [
        "from elsewhere",
        "noted",
        "no typo",
    ]


def test_a_cleared_session_is_empty_and_goes_on() -> None:
    async def work(store: cw.AsyncStore) -> None:
        session = StoreSession("one", store)
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items([{"role": "user", "content": "one"}])
        await session.add_items([])
        await session.clear_session()
        assert await session.get_items() == []
        assert [info async for info in store.list()] == []
        await session.add_items([{"role": "user", "content": "two"}])
        assert await session.get_items() == [{"role": "user", "content": "two"}]

    run(work)


def test_a_budget_needs_a_model() -> None:
    async def work(store: cw.AsyncStore) -> None:
        with pytest.raises(cw.UsageError, match="without a model"):
            StoreSession("one", store, budget=100)

    run(work)


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": "x", "o": object()},
        {"role": "user", "content": "x\0", "o": {1}},
        {"type": "of tomorrow", "o": object()},
    ],
)
def test_an_item_that_is_not_json_is_refused(item: Any) -> None:
    async def work(store: cw.AsyncStore) -> None:
        session = StoreSession("one", store)
        with pytest.raises(cw.UsageError):
            await session.add_items([{"role": "user", "content": "Hi"}, item])
        assert await session.get_items() == []

    run(work)


def test_what_is_no_item_is_refused() -> None:
    async def work(store: cw.AsyncStore) -> None:
        items: Any = [{"role": "user", "content": "Hi"}, "x"]
        session = StoreSession("one", store)
        with pytest.raises(cw.UsageError, match=r"input\[1\] cannot be 'x'"):
            await session.add_items(items)
        assert await session.get_items() == []

    run(work)


class ScriptedModel(Model):
    """Calls a tool, then answers; keeps what it was sent."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []

    async def get_response(self, *rest: Any, input: Any, **more: Any) -> ModelResponse:
        self.inputs.append(input)
        number = len(self.inputs)
        if number % 2:
            call = ResponseFunctionToolCall(
                arguments="{}", call_id=f"call_{number}", name="look", type="function_call"
            )
            return ModelResponse([call], Usage(), None)
        text = {"type": "output_text", "text": f"Answer {number}", "annotations": []}
        answer = ResponseOutputMessage.model_validate(
            {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        )
        return ModelResponse([answer], Usage(), None)

    def stream_response(self, *rest: Any, **more: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


@function_tool
def look() -> str:
    """Look."""
    return "word " * 60


def test_the_runner_takes_it(tmp_path: Path) -> None:
    """Over several runs, each in a store that was opened again."""
    model = ScriptedModel()
    agent = Agent(name="Aya", model=model, tools=[look])

    async def work(store: cw.AsyncStore) -> str:
        session = StoreSession("one", store, model=MODEL, budget=600)
        assert isinstance(session, Session)
        config = RunConfig(tracing_disabled=True)
        return (
            await Runner.run(agent, "Look again", session=session, run_config=config)
        ).final_output

    answers = [run(work, tmp_path / "chat.db") for _ in range(8)]
    assert answers[-1] == "Answer 16"
    for sent in model.inputs:
        assert cw.check({"model": MODEL, "input": sent}, "openai-responses") == []
        assert sent[0]["content"] == "Look again"
    assert len(model.inputs[-2]) < 8 * 4
    with cw.Store(tmp_path / "chat.db") as store:
        assert len(store.conversation("one")) == 8 * 4
