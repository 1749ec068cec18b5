"""How the time of parsers and cleaners grows when hostile text is doubled.

    uv run python -m benchmarks.formats.linear [--largest 1000000] [--only clean]

Every reader of people's words reads texts made to be slow: runs of `<tool>`, brackets, blanks,
quotes, nesting. The table shows the time of a megabyte, and the worst growth of one doubling up to
it. Times are processor time at their best; two sizes are read in turn, and again where the growth
looks steep, for other programs only ever make things slower.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from datetime import UTC, datetime
from time import process_time

import contextwright as cw
from contextwright.display import safe
from contextwright.documents.read import decode
from contextwright.errors import ContextwrightError
from contextwright.formats.forge.format import validate_tool_call
from contextwright.formats.gryag.meta import clean_reply, read_metadata
from contextwright.messages.sender import format_metadata
from contextwright.recall.dates.periods import periods
from contextwright.recall.packing import Packing, RecallHit, default_price
from contextwright.recall.questions import parse_question
from contextwright.sections import SectionInput
from contextwright.serve.calls import read_call
from contextwright.serve.recording.outcome import masked
from contextwright.serve.secrets import secrets_in
from contextwright.text.excerpts import Line, digest
from contextwright.text.json import encode_json
from contextwright.text.quoting import quoted

ASKED = datetime(2023, 11, 15, tzinfo=UTC)
SHAPES = {
    "tags": ("", "<tool>", ""),
    "open objects": ("", "<tool>{", ""),
    "open strings": ("", '<tool>{"', ""),
    "closing tags": ("<tool>", "</tool>", ""),
    "brackets": ("", "[", ""),
    "brackets at line starts": ("", "\n[", ""),
    "nested lists": ("", "[\n", "]\n"),
    "nested objects": ("<tool>", '{"a":', "}"),
    "elements": ("<tool><arguments>", "<a>", "</a>"),
    "thoughts": ("", "[a b]\n", ""),
    "blanks": ("", " ", "x"),
    "line breaks": ("", "\n", ""),
    "quotes": ("[meta] name=", '"', ""),
    "backslashes": ('[meta] name="', "\\", ""),
    "meta": ("", "[meta] ", ""),
    "meta with pairs": ("", '[meta] chat_id=-1 name="a" ', ""),
    "open meta": ("", "[meta ", ""),
    "pairs": ("", "chat_id=1 ", ""),
    "speakers": ("", "Alice#1: ", ""),
    "speaker lines": ("", "Alice#1: x\n", ""),
    "fences": ("", "```\n", ""),
    "backticks": ("", "`", ""),
    "hashes": ("", "#", ""),
    "dashes": ("", "- ", ""),
    "words": ("", "word ", ""),
    "dates": ("", "7 may 2023 to ", ""),
    "almost dates": ("", "in the last this may 5th ", ""),
    "accents": ("a", "\u0301", ""),
    "emoji": ("", "👩\u200d", ""),
    "dots": ("", ".", "x"),
    "closed sentences": ("", ".)", "x"),
    "short sentences": ("", "a. ", ""),
    "escapes": ("", "\x1b[2J", ""),
    "addresses": ("", "://a?b&", ""),
}


def parsed(format: str, wrap: Callable[[str], object]) -> Callable[[str], object]:
    """A reader of one format."""
    return lambda text: cw.parse(wrap(text), format)


def assistant(text: str) -> object:
    return [{"role": "assistant", "content": text}]


def session(text: str) -> object:
    return {"id": text, "agent": text, "messages": [{"role": "user", "content": text}]}


def history(text: str) -> object:
    return [{"role": "user", "parts": [{"text": text}]}]


def entry(text: str) -> object:
    said = {"userid": text, "text": text}
    return [{"index": 0, "turn": 0, "timestamp": text, "role": "user", "content": said}]


def recalled(text: str) -> object:
    question = cw.user(text, author=cw.Author(text, text, text), reply_to=cw.Reply(excerpt=text))
    notes = cw.recall.MemoryList([cw.Memory("passage", text), cw.Memory("memory", text, text)])
    moment = SectionInput(question=question, messages=(question,) * 3, memories=notes)
    sections = (
        cw.sections.CurrentUser(),
        cw.sections.ReplyTo(),
        cw.Memories(),
        cw.sections.PastExcerpts(),
        cw.sections.Transcript(),
    )
    return [section.write(moment) for section in sections]


def event(text: str) -> object:
    """A talk of one person whose name and words are all the same, and one in short messages."""
    author = cw.Author(text, text, text)
    long = [(place, cw.user(text, author=author)) for place in range(1, 7)]
    pieces = [text[place : place + 100] for place in range(0, len(text), 100)]
    short = [(place, cw.user(piece)) for place, piece in enumerate(pieces)]
    # Short episodes, so that a small text has whole ones too, as a large one has.
    few, some = (cw.recall.EpisodeRules(max_messages=most) for most in (5, 50))
    return cw.recall.find_episodes(long, few), cw.recall.find_episodes(short, some)


def digested(text: str) -> object:
    lines = [Line(number, "Ada", text[number::3], text[:10]) for number in range(3)]
    return digest([Line(9, "Bo", text), *lines], 1_000)


def packed(text: str) -> object:
    """A long message under a long name, one that says nearly the same, and many short ones."""
    author = cw.Author(text, text, text)
    pieces = [text[place : place + 1_000] for place in range(0, len(text), 1_000)]
    packing = Packing(1 << 40, default_price(len))
    for seq, words in enumerate((text, text[1:], *pieces), 1):
        packing.add(RecallHit(text[:9], seq, cw.user(words, author=author), 0.5, (), 0))
    return packing.result(text, 1 << 40, has_meaning=False).text


def without_keys(text: str) -> bytes:
    """A body with a key of which JSON escapes a slash, and tools made of the same text."""
    body = b'{"system": "sk-test%b/0123456789", "tools": "%b"}' % (b"\\", text.encode())
    call = read_call("anthropic", "generate", encode_json({"model": "m", "tools": text}), {})
    return masked(body, frozenset(("sk-test/0123456789", *secrets_in(call))))


READERS: dict[str, Callable[[str], object]] = {
    "forge: parse": parsed("forge", assistant),
    "forge: validate": validate_tool_call,
    "gryag: parse": parsed("gryag", history),
    "gryag: parse compact": parsed("gryag", lambda text: text),
    "gryag: clean a reply": clean_reply,
    "gryag: read metadata": read_metadata,
    "gryag: write metadata": lambda text: format_metadata({"name": text}),
    "aya: parse": parsed("aya", entry),
    "port42: parse": parsed("port42", session),
    "chatml: parse": parsed("chatml", assistant),
    "sections: quote": quoted,
    "sections: write all": recalled,
    "recall: read dates": lambda text: periods(text, ASKED),
    "recall: read a question": lambda text: parse_question(text, (text, text[:9]), ASKED),
    "recall: pack": packed,
    "episodes: find": event,
    "summaries: pick excerpts": digested,
    "display: make safe": safe,
    "documents: decode": lambda text: decode(encode_json(text)),
    "gateway: hide keys": without_keys,
}


def text_of(shape: str, size: int) -> str:
    before, unit, after = SHAPES[shape]
    count = size // len(unit + after)
    return before + unit * count + after * count


def cost(read: Callable[[str], object], text: str) -> float:
    """The processor time of one reading, by a clock that is exact for milliseconds too."""
    start = process_time()
    try:
        read(text)
    except ContextwrightError:
        pass  # refused: that took its time too
    seconds = process_time() - start
    gc.collect()  # what one reading leaves behind must not slow down the next
    return seconds


def growth(read: Callable[[str], object], shape: str, largest: int) -> tuple[float, float]:
    """The time of the largest text, and the worst growth of one doubling.

    What takes less than some hundredths of a second has no growth to speak of.
    """
    texts = [text_of(shape, size) for size in (largest // 4, largest // 2, largest)]
    times = [float("inf")] * len(texts)
    worst = 0.0
    for rounds in range(ROUNDS):
        times = [min(best, cost(read, text)) for best, text in zip(times, texts, strict=True)]
        pairs = zip(times, times[1:], strict=False)
        worst = max((after / before for before, after in pairs if before > 0.02), default=0.0)
        if rounds and worst < 2.1:
            break
    return times[-1], worst


ROUNDS = 12


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--largest", type=int, default=1_000_000)
    arguments.add_argument("--only", default="")
    chosen = arguments.parse_args()
    gc.disable()
    worst = 0.0
    print(f"{'reader':<24}{'slowest at':<26}{'seconds':>8}   {'worst growth at':<26}{'×':>5}")
    for name, read in READERS.items():
        if chosen.only not in name:
            continue
        found = {shape: growth(read, shape, chosen.largest) for shape in SHAPES}
        slowest = max(found, key=lambda shape: found[shape][0])
        steepest = max(found, key=lambda shape: found[shape][1])
        worst = max(worst, found[steepest][1])
        ratio = f"{found[steepest][1]:.2f}" if found[steepest][1] else "–"
        print(f"{name:<24}{slowest:<26}{found[slowest][0]:>8.3f}   {steepest:<26}{ratio:>5}")
        gc.collect()
    print(f"worst growth of one doubling: {worst:.2f}")


if __name__ == "__main__":
    main()
