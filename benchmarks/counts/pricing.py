"""How long counting takes: many short messages, seen for the first time and again.

    uv run python -m benchmarks.counts.pricing [--messages 10000]

Prints microseconds of CPU a message, the best of five: taking the request apart into pieces,
pricing texts that are new, pricing texts that the pricer remembers, and the tokenizer alone.
Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

from contextwright.formats.api import convert
from contextwright.models import find
from contextwright.tokens.count import Pricer, counter
from contextwright.tokens.pieces import pieces

TARGETS = {
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-5",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
}
WORDS = "the quick brown fox jumps over a lazy dog while seven wizards vex bold jockeys".split()


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--messages", type=int, default=10_000)
    number = options.parse_args().messages
    print(f"{'':20}" + "".join(f"{name:>12}" for name in ("pieces", "new", "again", "tokenizer")))
    for format, name in TARGETS.items():
        body = convert(talk(number), "openai-chat", format, model=name).payload
        model = find(name)
        found = pieces(body, format)
        known = Pricer(model, format, model.tokenizer)
        texts = [piece.value for piece in found if piece.kind == "text"]
        tokens = counter(model.tokenizer)
        steps: list[Callable[[], object]] = [
            lambda body=body, format=format: pieces(body, format),
            lambda model=model, format=format, found=found: Pricer(
                model, format, model.tokenizer
            ).count(found),
            lambda known=known, found=found: known.count(found),
            lambda texts=texts, tokens=tokens: sum(map(tokens, texts)),
        ]
        cells = (f"{best(step) / number * 1e6:.1f}" for step in steps)
        print(f"{format:20}" + "".join(f"{cell:>12}" for cell in cells))
    return 0


def talk(number: int) -> dict[str, Any]:
    dice = random.Random(20261115)
    roles = ("user", "assistant")
    return {
        "messages": [
            {
                "role": roles[index % 2],
                "content": f"{index} " + " ".join(dice.choices(WORDS, k=dice.randint(5, 60))),
            }
            for index in range(number)
        ]
    }


def best(step: Callable[[], object]) -> float:
    found: list[float] = []
    for _ in range(5):
        start = time.process_time()
        step()
        found.append(time.process_time() - start)
    return min(found)


if __name__ == "__main__":
    raise SystemExit(main())
