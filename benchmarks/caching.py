"""What windows leave of a provider's prompt cache, on a generated agent run and on recorded ones.

python benchmarks/caching.py                      # the generated run
python benchmarks/caching.py --data FOLDER        # recorded runs too: see README.md
python benchmarks/caching.py --steps 0.2,0.4,0.6  # other steps of the default window
python benchmarks/caching.py --clearing 4,12,20   # old results cleared, so many kept
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

import workload
from contextwright import Conversation, assistant, parse, system, user
from contextwright.context.recipe import Recipe
from contextwright.context.simulation.simulate import Row, simulate, total
from contextwright.sections import CurrentTime
from contextwright.summaries import SummaryPolicy
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import KeepAll, KeepRecent, Stepped

TURNS = 200
MODELS = ("claude-sonnet-5-5", "gpt-5.6-sol", "gpt-4o", "gemini-3.8-flash")


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--data", type=Path, help="a folder with trajectories/ and agent_logs/")
    options.add_argument("--steps", default="", help="steps of the stepped window to compare")
    options.add_argument("--clearing", default="", help="numbers of results that clearing keeps")
    options.add_argument("--models", default=",".join(MODELS), help="whose rules and prices")
    given = options.parse_args()
    policies = recipes(
        [float(step) for step in given.steps.split(",") if step],
        [int(results) for results in given.clearing.split(",") if results],
    )
    for model in given.models.split(","):
        run = agent_run(TURNS)
        budget = tokens_of(run, model) // 12
        rows = simulate(run, policies, model=model, budget=budget)
        show(f"generated run of {TURNS} turns, {model}, budget {budget:,}", rows)
        if given.data:
            show_recorded(given.data, policies, model)
    return 0


def recipes(steps: Iterable[float], clearing: Iterable[int]) -> list[Recipe]:
    """The sliding window first: the others are held against it."""
    return [
        Recipe(name="sliding", window=KeepRecent()),
        Recipe(name="default"),
        Recipe(name="with a clock", system=(CurrentTime(),)),
        Recipe(name="with a digest", summary=SummaryPolicy()),
        *(Recipe(name=f"step {step:g}", window=Stepped(step=step)) for step in steps),
        *(Recipe(name=f"clear {count}", clearing=Clearing(results=count)) for count in clearing),
    ]


# --- the runs --------------------------------------------------------------------------------


def agent_run(turns: int) -> Conversation:
    """A user and an agent with four tools; about two requests a turn."""
    random = Random(turns)
    messages = [system("You are a careful assistant. " + workload.words(random, 1_500))]
    for number in range(turns):
        messages.append(user(workload.words(random, random.randint(40, 300))))
        for loop in range(random.choice((0, 1, 1, 1, 2, 2))):
            call = random.choice((1, 1, 1, 2))
            messages.extend(workload.exchange(random, call, number * 10 + loop))
        messages.append(assistant(workload.words(random, random.randint(50, 600))))
    return Conversation(tuple(messages), workload.tools())


def recorded_runs(folder: Path) -> dict[str, list[Conversation]]:
    """The recorded runs, by where they come from."""
    return {
        "tau-bench, airline": trajectories(folder / "trajectories/tau_airline_gpt4o.openai.jsonl"),
        "SWE-agent": trajectories(folder / "trajectories/swe_agent.jsonl"),
        "Claude Code": logs(folder / "agent_logs"),
    }


def trajectories(path: Path) -> list[Conversation]:
    """Runs in the shape of OpenAI chats, one a line."""
    lines = path.read_text("utf-8").splitlines()
    return [parse({"messages": json.loads(line)["messages"]}, "openai-chat") for line in lines]


def logs(folder: Path) -> list[Conversation]:
    """Sessions of Claude Code, as it writes them on disk, in the shape of Anthropic requests."""
    sessions = [list(entries(path)) for path in sorted(folder.glob("*.jsonl"))]
    return [parse({"messages": messages}, "anthropic") for messages in sessions if messages]


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """The messages of a log; the blocks of one reply, each an entry of its own, are joined."""
    reply: dict[str, Any] | None = None
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        message = entry.get("message")
        if entry.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            continue
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if reply is not None and message.get("id") == reply["id"]:
            reply["content"].extend(blocks)
            continue
        if reply is not None:
            yield {"role": "assistant", "content": reply["content"]}
            reply = None
        if message["role"] == "assistant":
            reply = {"id": message.get("id"), "content": list(blocks)}
        else:
            yield {"role": "user", "content": blocks}
    if reply is not None:
        yield {"role": "assistant", "content": reply["content"]}


# --- the tables ------------------------------------------------------------------------------


def tokens_of(run: Conversation, model: str) -> int:
    """What all messages of a run cost."""
    view = Recipe().history(run.messages, model=model).history.view()
    return int(sum(map(view.cost, range(view.count))))


def show_recorded(folder: Path, policies: Sequence[Recipe], model: str) -> None:
    """Tables for each set of recorded runs: each run alone, and all in one session."""
    everything: list[list[Row]] = []
    for name, runs in recorded_runs(folder).items():
        rows = [found for run in runs if (found := played(run, policies, model))]
        everything.extend(rows)
        title = f"{name}, {model}, {len(rows)} runs over budget, each alone"
        show(title, summed(rows), dearest(rows))
        session = joined(runs)
        budget = tokens_of(session, model) // 4
        rows = simulate(session, policies, model=model, budget=budget)
        show(f"{name}, {model}, {len(runs)} runs in one session, budget {budget:,}", rows)
    show(f"all recorded runs, {model}, each alone", summed(everything), dearest(everything))


def joined(runs: Sequence[Conversation]) -> Conversation:
    """Runs one after the other in one conversation, as an agent has them that is never reset."""
    opening = [message for message in runs[0].messages[:1] if message.role == "system"]
    said = [message for run in runs for message in run.messages if message.role != "system"]
    return Conversation((*opening, *said))


def played(run: Conversation, policies: Sequence[Recipe], model: str) -> list[Row]:
    """A run with every policy, and once without any limit; nothing for runs that fit anyway.

    No window leaves fewer tokens uncached than none at all: the last row is the floor.
    """
    budget = own_budget(run, model)
    if budget is None:
        return []
    rows = simulate(run, policies, model=model, budget=budget)
    return [*rows, *simulate(run, [Recipe(name="the floor", window=KeepAll())], model=model)]


def summed(rows: Sequence[Sequence[Row]]) -> list[Row]:
    """The figures of several runs, policy by policy."""
    return [total(found) for found in zip(*rows, strict=True)]


def dearest(runs: Sequence[Sequence[Row]]) -> list[float]:
    """Policy by policy, the price on the run where it is dearest beside the sliding window."""
    return [
        max((row.dollars or 0) / (run[0].dollars or 1) for row, run in zip(rows, runs, strict=True))
        for rows in zip(*runs, strict=True)
    ]


def show(title: str, rows: Sequence[Row], dearest: Sequence[float] = ()) -> None:
    """One table: a row a policy, and what it is of the sliding window's."""
    print(f"\n{title}")
    print(
        f"  {'':13}{'requests':>9}{'bad':>5}{'sent':>13}{'fill':>7}{'in prefix':>11}"
        f"{'uncached':>12}{'of sliding':>11}{'input $':>10}{'of sliding':>11}"
        f"{'dearest run' if dearest else '':>13}"
    )
    sliding = rows[0]
    for row, worst in zip_longest(rows, dearest):
        bad = row.refused + row.invalid + row.over_budget + row.lost_questions
        print(
            f"  {row.recipe:13}{len(row.requests):>9,}{bad:>5}{row.sent:>13,}{row.fill:>7.0%}"
            f"{row.share:>11.1%}{row.uncached:>12,}{row.uncached / sliding.uncached:>11.0%}"
            f"{row.dollars or 0:>10.4f}{(row.dollars or 0) / (sliding.dollars or 1):>11.0%}"
            f"{f'{worst:.0%}' if worst else '':>13}"
        )


def own_budget(run: Conversation, model: str) -> int | None:
    """A budget that makes a run overflow: half of what a window may drop, yet room for two of the
    largest messages; None for runs too short to need one."""
    view = Recipe().history(run.messages, model=model).history.view()
    costs = [view.cost(index) for index in range(view.count)]
    total, fixed = sum(costs), sum(map(view.cost, view.always))
    budget = int(fixed + max((total - fixed) / 2, 2 * max(costs)))
    return budget if total > budget else None


if __name__ == "__main__":
    raise SystemExit(main())
