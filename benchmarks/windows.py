"""How long a context takes out of a short history and out of a very long one.

    uv run python benchmarks/windows.py
    uv run --with langchain-core python benchmarks/windows.py --peers

CPU time, the best of several rounds. Messages are counted before the clock starts, as a program
that keeps its history counts them: once, when they come. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from time import process_time
from typing import Any

import msgspec
from msgspec.structs import replace

import workload
from contextwright import Message, Text, ToolCall, ToolResult, user
from contextwright.context.fitting.priced_history import PricedHistory
from contextwright.context.fitting.recent import RECENT
from contextwright.context.recipe import Recipe
from contextwright.messages.parts import Part
from contextwright.tokens.count import count_text
from contextwright.windows import decide
from contextwright.windows.clearing import Clearing
from contextwright.windows.decisions import Decisions
from contextwright.windows.policies import FirstAndRecent, KeepRecent, Layers, Stepped, Window

MODEL = "gpt-4o"
BUDGET = 8_000
TOOLS = workload.tools()
WINDOWS: dict[str, Window] = {
    "Stepped": Stepped(),
    "KeepRecent": KeepRecent(),
    "FirstAndRecent(200)": FirstAndRecent(200),
    "Layers(5, 200)": Layers(5, 200),
}

Run = Callable[[], object]

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Message).decode


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--peers", action="store_true", help="langchain-core, where installed")
    options.add_argument("--sizes", default="1000,10000,100000", type=numbers)
    given = options.parse_args()
    show_growth(given.sizes)
    show_hundred()
    show_lists(given.sizes)
    if given.peers:
        show_peer()
    return 0


def numbers(given: str) -> list[int]:
    """Sizes from `1000,10000`."""
    return sorted({int(size) for size in given.split(",")})


# --- ours ------------------------------------------------------------------------------------


def show_growth(sizes: Sequence[int]) -> None:
    """Deciding alone, and the whole build, at each size; all histories end alike."""
    print(f"\nA window of {BUDGET:,} tokens, counts known (CPU ms, {MODEL})\n")
    print(f"{'':40}{cells([*(f'{size:,}' for size in sizes), 'last/first', 'kept'])}")
    for title, clearing in (("", Clearing()), (", clearing", Clearing(results=4, media=4))):
        # Prices do not depend on the window: the same histories serve all of them.
        histories = [history_of(Recipe(clearing=clearing), size) for size in sizes]
        for name, window in WINDOWS.items():
            recipe = Recipe(system=("You are kind.",), window=window, clearing=clearing)
            decides = [partial(decided, window, history) for history in histories]
            kept = len(list(decided(window, histories[-1]).kept()))
            show_row(f"{name}{title}: decide", decides, kept)
            show_row(f"{name}{title}: build", [builds(recipe, one) for one in histories], kept)


def show_hundred() -> None:
    """The whole of a hundred messages: nothing is left out."""
    print("\nAll of 100 messages with 4 tools, counts known (CPU ms)\n")
    for model in ("gpt-4o", "claude-sonnet-5-5", "gemini-3.8-flash"):
        recipe = Recipe(system=("You are kind.",))
        history = recipe.history(workload.clean(100).messages, model=model)
        run = partial(recipe.build, history, model=model, tools=TOOLS)
        print(f"  {model:38}{cells([milliseconds(best_of(run))])}")


def show_lists(sizes: Sequence[int]) -> None:
    """A list of messages handed to `build` as it is, read again, and grown by one.

    Read again, it has the same texts in new messages, as a server gets them with each request. A
    kept history is beside it, and for comparison a pass over the bytes of all texts, or over their
    characters.
    """
    print("\nBuilds of plain lists (CPU ms)\n")
    titles = ["first", "read again", "grown", "kept", "grown/kept", "bytes", "characters"]
    print(f"{'':24}{cells(titles)}")
    recipe = Recipe(system=("You are kind.",), budget=BUDGET)
    shortest = longest = passed = 0.0
    for size in (100, *sizes):
        bodies = list(map(encode, islice(history_of(recipe, size).messages, size)))
        texts = list(texts_of(map(decode, bodies)))
        passes = [
            best_of(partial(one_pass, texts), rounds=5, repeats=1)
            for one_pass in (in_bytes, in_characters)
        ]
        del texts
        first, again, grown, kept = best_of_lists(recipe, bodies)
        ratio = f"{grown / kept:.2f}"
        times = [*map(milliseconds, (first, again, grown, kept)), ratio, *map(milliseconds, passes)]
        print(f"  {f'{size:,} messages':22}{cells(times)}")
        longest, passed = first, passes[0]
        shortest = shortest or first
    share = longest / (3 * shortest + passed)
    print(f"\n  the longest: {share:.2f} of three times the shortest and a pass over bytes")


def best_of_lists(recipe: Recipe, bodies: Sequence[bytes]) -> tuple[float, ...]:
    """The best of a first build, of the list read again, of one grown by one, of a kept history."""
    best = [float("inf")] * 4
    for number in range(3):
        RECENT.forget()  # nothing is known of any text
        messages, again = (list(map(decode, bodies)) for _ in range(2))
        first = elapsed(partial(recipe.build, messages, model=MODEL))
        messages.append(user(f"And {number}?"))
        grown = elapsed(partial(recipe.build, messages, model=MODEL))
        history = recipe.history(messages[:-1], model=MODEL)
        recipe.build(history, model=MODEL)
        history.append(messages[-1])
        kept = elapsed(partial(recipe.build, history, model=MODEL))
        read_again = elapsed(partial(recipe.build, again, model=MODEL))
        best = list(map(min, best, (first, read_again, grown, kept)))
    return tuple(best)


def texts_of(messages: Iterable[Message]) -> Iterator[str]:
    """The texts of messages and of tool results."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text | ToolResult):
                yield part.text


def in_bytes(texts: Sequence[str]) -> int:
    return sum([len(text) if text.isascii() else len(text.encode()) for text in texts])


def in_characters(texts: Sequence[str]) -> int:
    return sum(map(len, texts))


def show_row(name: str, runs: Sequence[Run], kept: int) -> None:
    times = [best_of(run) for run in runs]
    ratio = f"{times[-1] / times[0]:.2f}"
    print(f"  {name:38}{cells([*map(milliseconds, times), ratio, f'{kept}'])}")


def decided(window: Window, history: PricedHistory) -> Decisions:
    return decide(window, history.history.view(), BUDGET)


def builds(recipe: Recipe, history: PricedHistory) -> Run:
    return partial(recipe.build, history, model=MODEL, tools=TOOLS, budget=BUDGET)


def history_of(recipe: Recipe, size: int) -> PricedHistory:
    """So many messages: the same thousand over and over, their ids told apart."""
    thousand = workload.clean(1_000).messages[1:]
    history = recipe.history(model=MODEL)
    rounds = -(-size // len(thousand))
    for number in range(rounds):
        history.extend(renumbered(thousand, number))
    return history


def renumbered(messages: Sequence[Message], number: int) -> Iterator[Message]:
    """The messages with ids of their own; whatever has none is the same value again."""
    for message in messages:
        if message.calls or message.results:
            yield message.with_parts(own_id(part, number) for part in message.parts)
        else:
            yield message


def own_id(part: Part, number: int) -> Part:
    if isinstance(part, ToolCall):
        return replace(part, id=f"{part.id}_{number}")
    if isinstance(part, ToolResult):
        return replace(part, call_id=f"{part.call_id}_{number}")
    return part


# --- a peer ----------------------------------------------------------------------------------


def show_peer() -> None:
    """`trim_messages` with an exact counter, beside ours, out of 10,000 messages."""
    try:
        from langchain_core.messages import trim_messages  # pyright: ignore
    except ImportError as error:
        print(f"\nlangchain-core: {error}")
        return
    recipe = Recipe(system=("You are kind.",), window=KeepRecent())
    history = history_of(recipe, 10_000)
    theirs = peer_messages(history.messages)
    known: dict[str, int] = {}

    def exact(messages: Sequence[Any]) -> int:
        """Tokens of the messages' texts; each text is tokenised once, as ours are."""
        tokens = 0
        for message in messages:
            text = str(message.content)
            if text not in known:
                known[text] = count_text(text, MODEL).tokens
            tokens += known[text] + 4
        return tokens

    trim = partial(trim_messages, theirs, max_tokens=BUDGET, token_counter=exact, start_on="human")
    ours, peer = best_of(builds(recipe, history)), best_of(trim, rounds=1, repeats=1)
    print("\nOut of 10,000 messages (CPU ms)\n")
    print(f"  {'contextwright: build':44}{cells([milliseconds(ours)])}")
    print(f"  {'langchain-core: trim_messages':44}{cells([milliseconds(peer)])}")
    print(f"  {'times':44}{cells([f'{peer / ours:,.0f}'])}")


def peer_messages(messages: Sequence[Message]) -> list[Any]:
    """The messages as langchain has them."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage  # pyright: ignore

    numbers = count()
    made: list[Any] = []
    for message in messages:
        if message.role == "user":
            made.append(HumanMessage(message.text))
        elif message.role == "assistant":
            calls = [
                {"name": call.name, "args": call.arguments, "id": call.id or f"{next(numbers)}"}
                for call in message.calls
            ]
            made.append(AIMessage(message.text, tool_calls=calls))
        for result in message.results:
            made.append(ToolMessage(result.text, tool_call_id=result.call_id or ""))
    return made


# --- the clock -------------------------------------------------------------------------------


def best_of(run: Run, *, rounds: int = 15, repeats: int = 20) -> float:
    """The best CPU seconds of a run; the first one only warms up."""
    if repeats > 1:
        run()
    gc.collect()
    gc.freeze()
    gc.disable()
    best = float("inf")
    for _ in range(rounds):
        started = process_time()
        for _ in range(repeats):
            run()
        best = min(best, (process_time() - started) / repeats)
    gc.enable()
    gc.unfreeze()
    return best


def elapsed(run: Run) -> float:
    gc.collect()
    gc.disable()
    started = process_time()
    run()
    taken = process_time() - started
    gc.enable()
    return taken


def cells(values: Sequence[str]) -> str:
    return "".join(f"{value:>12}" for value in values)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1_000:,.3f}"


if __name__ == "__main__":
    raise SystemExit(main())
