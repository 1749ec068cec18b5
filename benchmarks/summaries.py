"""What a digest tells of what people ask about later, and what summaries cost a build.

    uv run --group bench python benchmarks/summaries.py [--data FOLDER]

With recorded conversations (the folder holds `recall/*.jsonl`), a summary of each conversation
in as many tokens of gpt-4o: of the messages that questions are about, the share it has a line of;
and of the words of the answers that these messages have and the questions lack, the share in those
lines. Beside the digest, in the same form: the first sentences, random ones (the mean of ten), and
sumy's TextRank, an eighth of the conversation at a time because its time grows with the square.
Without a folder: builds of a kept history with and without a digest, in one run.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

import contextwright as cw
from contextwright.summaries.digest import Digest, date_of, speaker_of
from contextwright.summaries.summary import DIGEST, Summary
from contextwright.text.excerpts import Line, sentences_of
from contextwright.text.terms import terms_of

SETS = ("locomo", "realtalk", "beam_100K")
TOKENS = (200, 400, 800)
EIGHTHS = 8
SEEDS = 10


class Talk(NamedTuple):
    """A conversation and what is asked about it."""

    messages: list[cw.Message]
    asked: Counter[int]
    """How often each message is what a question is about."""
    answers: list[tuple[set[str], list[int]]]
    """The words of each answer that the question lacks, and the messages that have them."""


class Sentence(NamedTuple):
    number: int
    order: int
    text: str


Order = list[Sentence]
"""All sentences, best first."""


# --- what is told ---------------------------------------------------------------------------------


def talks(file: Path) -> Iterator[Talk]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            messages = [message_of(said) for said in row["messages"]]
            places = {said["id"]: number for number, said in enumerate(row["messages"], 1)}
            asked: Counter[int] = Counter()
            answers: list[tuple[set[str], list[int]]] = []
            for question in row["questions"]:
                evidence = [places[one] for one in question["evidence"] if one in places]
                asked.update(evidence)
                said = terms_of(" ".join(messages[number - 1].text for number in evidence))
                words = terms_of(str(question["answer"] or "")) - terms_of(question["q"])
                if words & said and not question["adversarial"]:
                    answers.append((words & said, evidence))
            yield Talk(messages, asked, answers)


def message_of(said: dict[str, Any]) -> cw.Message:
    author = None if said["speaker"] == said["role"] else cw.Author(name=said["speaker"])
    text = cw.Text(said["text"])
    return cw.Message(said["role"], (text,), author=author, sent_at=said["timestamp"])


def price(message: cw.Message) -> int:
    return cw.count([message], model="gpt-4o").tokens


def digest_of(talk: Talk, tokens: int) -> list[Line]:
    """The lines of our digest, as far as they fit."""
    digest = Digest(cw.SummaryPolicy(tokens).longest)
    for message in talk.messages:
        digest.add(message)
    message = digest.summary.message(tokens, price)
    body = message.text if message else ""
    texts = [line.partition(": ")[2] for line in body.splitlines()[1:]]
    numbers = [int(line.split()[1]) for line in body.splitlines()[1:]]
    return [Line(number, "", text) for number, text in zip(numbers, texts, strict=True)]


def lines_of(talk: Talk, order: Order, tokens: int) -> list[Line]:
    """The best sentences that fit, in the form of a digest."""
    least, most = 0, min(len(order), tokens)
    while least < most:
        count = (least + most + 1) // 2
        summary = Summary(
            len(talk.messages), len(talk.messages), DIGEST, lines=put_together(talk, order[:count])
        )
        text = f"{summary.head}\n{summary.quoted(summary.size)}"
        least, most = (count, most) if price(cw.user(text)) <= tokens else (least, count - 1)
    return [*put_together(talk, order[:least])]


def put_together(talk: Talk, picked: Order) -> tuple[Line, ...]:
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for sentence in sorted(picked):
        texts[sentence.number].append(sentence.text)
    messages = {number: talk.messages[number - 1] for number in texts}
    return tuple(
        Line(number, speaker_of(messages[number]), " ".join(said), date_of(messages[number]))
        for number, said in texts.items()
    )


def shares(talk: Talk, lines: Sequence[Line]) -> tuple[float, float]:
    """The share of evidence that has a line, and of the answers' words that the lines have."""
    told = {line.number: terms_of(line.text) for line in lines}
    messages = sum(talk.asked[number] for number in told) / talk.asked.total()
    words = [
        len(words & set[str]().union(*(told.get(one, ()) for one in evidence))) / len(words)
        for words, evidence in talk.answers
    ]
    return messages, mean(words)


# --- other ways to pick ---------------------------------------------------------------------------


def sentences(talk: Talk) -> Order:
    return [
        Sentence(number, order, text[:240])
        for number, message in enumerate(talk.messages, 1)
        for order, text in enumerate(sentences_of(message.text))
    ]


def shuffled(talk: Talk, seed: int) -> Order:
    order = sentences(talk)
    Random(seed).shuffle(order)
    return order


def by_text_rank(talk: Talk) -> Order:
    """sumy's order in each eighth; the eighths take turns."""
    from sumy.models.dom import ObjectDocumentModel, Paragraph
    from sumy.models.dom import Sentence as Text
    from sumy.nlp.stemmers import Stemmer
    from sumy.summarizers.text_rank import TextRankSummarizer
    from sumy.utils import get_stop_words

    class Words:
        """sumy's own reader of words would download a model."""

        def to_words(self, text: str) -> tuple[str, ...]:
            return tuple(word for word in text.lower().split() if any(map(str.isalnum, word)))

    summariser = TextRankSummarizer(Stemmer("english"))
    summariser.stop_words = get_stop_words("english")
    eighths: defaultdict[int, Order] = defaultdict(list)
    for sentence in sentences(talk):
        eighths[(sentence.number - 1) * EIGHTHS // len(talk.messages)].append(sentence)
    turns: list[tuple[int, int, Sentence]] = []
    for eighth, some in eighths.items():
        texts = [Text(one.text, Words()) for one in some]
        ranks = summariser.rate_sentences(ObjectDocumentModel([Paragraph(texts)]))
        places = sorted(range(len(some)), key=lambda place: -ranks[texts[place]])
        turns += [(turn, eighth, some[place]) for turn, place in enumerate(places)]
    return [sentence for _, _, sentence in sorted(turns)]


def show_set(file: Path) -> None:
    """Print one set: each way to pick, in each number of tokens."""
    found: defaultdict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for talk in talks(file):
        orders = {"lead": [sentences(talk)]}
        orders["random"] = [shuffled(talk, seed) for seed in range(SEEDS)]
        if find_spec("sumy"):
            orders["TextRank"] = [by_text_rank(talk)]
        for tokens in TOKENS:
            found["digest", tokens].append(shares(talk, digest_of(talk, tokens)))
            for name, some in orders.items():
                tried = [shares(talk, lines_of(talk, order, tokens)) for order in some]
                found[name, tokens].append(
                    (mean(one for one, _ in tried), mean(x for _, x in tried))
                )
    for tokens in TOKENS:
        cells = [
            f"{name} {mean(one for one, _ in rows):6.1%} {mean(x for _, x in rows):6.1%}"
            for (name, many), rows in found.items()
            if many == tokens
        ]
        print(f"{file.stem:<10}{tokens:>5} tokens   {'   '.join(cells)}", flush=True)


# --- what it costs --------------------------------------------------------------------------------


def best(work: Callable[[], object], times: int = 20) -> float:
    """Seconds of processor time, at their best."""
    found: list[float] = []
    for _ in range(times):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


def costs(count: int) -> None:
    """Builds of a history that is kept, in turn."""
    messages: list[cw.Message] = []
    for number in range(count // 2):
        messages.append(cw.user(f"What about place {number} on the way to the sea?"))
        messages.append(cw.assistant(f"Place {number} has {number * 7} houses. It is quiet there."))
    messages.append(cw.user("And now?"))
    plain, telling = cw.Recipe(budget=3_000), cw.Recipe(budget=3_000, summary=cw.SummaryPolicy())
    model = "gpt-4o"
    first = best(lambda: telling.build(telling.history(messages, model=model), model=model), 3)
    without = best(lambda: plain.history(messages, model=model), 3)
    kept, told = (one.history(messages, model=model) for one in (plain, telling))
    bare = best(lambda: plain.build(kept, model=model))
    again = best(lambda: telling.build(told, model=model))
    print(f"{count:>7,} messages: a build {bare * 1000:.2f} ms, with a digest {again / bare:.2f} ×")
    print(f"        the first digest {(first - without) / count * 1000:.2f} ms a message")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="a folder with recall/*.jsonl")
    folder: Path | None = parser.parse_args().data
    for count in (1_000, 10_000):
        costs(count)
    if folder is not None:
        print("messages with a line, and words of the answers in these lines")
        for name in SETS:
            show_set(folder / "recall" / f"{name}.jsonl")


if __name__ == "__main__":
    main()
