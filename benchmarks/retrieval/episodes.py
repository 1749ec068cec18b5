"""Whether episodes begin where people began to talk, and what making them costs.

    uv run python -m benchmarks.retrieval.episodes --data FOLDER [--show 5]

FOLDER holds recall/*.jsonl: conversations whose messages have times and the number of the session
they were said in. Found is the share of sessions whose first message begins a stretch of talk;
others are stretches that begin elsewhere. The same once more without times: then words alone tell.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import contextwright as cw
from contextwright.recall.episodes.boundaries import segment

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="Print some of each.")
    options = parser.parse_args()
    files = sorted((options.data / "recall").glob("*.jsonl"))
    if not files:
        print(f"no recall/*.jsonl in {options.data}", file=sys.stderr)
        return 2
    head = ("set", "sessions", "found", "others", "no times", "others", "episodes", "told", "ms")
    print("  ".join(f"{cell:>11}" for cell in head))
    for file in files:
        conversations = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        print("  ".join(f"{cell:>11}" for cell in row(file.stem, conversations)))
        if options.show:
            show(conversations[0], options.show)
    return 0


def row(name: str, conversations: list[dict[str, Any]]) -> Iterator[object]:
    """One set: boundaries with times and without, episodes, messages in them, CPU a message."""
    sessions, timed, untimed = 0, [0, 0], [0, 0]
    episodes = told = messages = 0
    seconds = 0.0
    for conversation in conversations:
        begun = beginnings(conversation)
        sessions += len(begun)
        for found, talk in ((timed, talk_of(conversation)), (untimed, without_times(conversation))):
            starts = {one.messages[0][0] for one in list(segment(talk, now=NOW))[1:]}
            found[0] += len(starts & begun)
            found[1] += len(starts - begun)
        talk = talk_of(conversation)
        start = time.process_time()
        made = cw.recall.find_episodes(talk, now=NOW)
        seconds += time.process_time() - start
        episodes += len(made)
        told += sum(len(episode.messages) for episode in made)
        messages += len(talk)
    yield from (name, sessions, share(timed[0], sessions), timed[1])
    yield from (share(untimed[0], sessions), untimed[1], episodes, share(told, messages))
    yield f"{seconds / messages * 1e3:.2f}"


def beginnings(conversation: dict[str, Any]) -> set[int]:
    """The numbers of the messages that begin a session, but for the first."""
    said = conversation["messages"]
    pairs = zip(said, said[1:], strict=False)
    return {place for place, (one, two) in enumerate(pairs, 2) if one["session"] != two["session"]}


def talk_of(conversation: dict[str, Any]) -> list[tuple[int, cw.Message]]:
    """A conversation as numbered messages."""
    return [
        (
            number,
            cw.Message(
                message["role"],
                (cw.Text(message["text"]),),
                cw.Author(id=message["speaker"], name=message["speaker"]),
                sent_at=message["timestamp"],
            ),
        )
        for number, message in enumerate(conversation["messages"], 1)
    ]


def without_times(conversation: dict[str, Any]) -> list[tuple[int, cw.Message]]:
    """The same as if nobody had a clock."""
    return [
        (number, cw.Message(message.role, message.parts, message.author))
        for number, message in talk_of(conversation)
    ]


def share(part: int, whole: int) -> str:
    """A share in percent."""
    return f"{part / max(whole, 1):.0%}"


def show(conversation: dict[str, Any], most: int) -> None:
    """Some episodes, to be read by people."""
    for episode in cw.recall.find_episodes(talk_of(conversation), now=NOW)[:most]:
        print(f"  {episode.began}  {episode.first}-{episode.last}  {episode.importance:.2f}")
        print(f"    {', '.join(episode.tags)}\n    {episode.summary}")


if __name__ == "__main__":
    sys.exit(main())
