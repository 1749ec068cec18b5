"""Deterministic conversations to measure with: the same for every run and every library.

A user says 20 to 400 characters and gets 50 to 1,500 back, in English or Ukrainian with some
emoji. About a fifth of all messages belong to tool exchanges: one to three parallel calls, each
answered by 100 to 3,000 characters of JSON. A few users send a small picture.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from random import Random

from msgspec.structs import replace

from contextwright import (
    Conversation,
    Media,
    Message,
    Settings,
    Text,
    Thinking,
    Tool,
    ToolCall,
    assistant,
    system,
    tool_result,
    user,
)

__all__ = ["clean", "dirty"]

ENGLISH = (
    "the a of and to in is it that we can you this for on with as was be by not or have from "
    "one had word but what some out other were all there when up use your how said an each she "
    "which do their time if will way about many then them write would like so these her long "
    "make thing see him two has look more day could go come did number sound no most people my "
    "over know water than call first who may down side been now find budget deploy server table"
).split()
UKRAINIAN = (
    "і в не на я що з як це до за так але у ми він його мене ти вона від для про та же все вже "
    "коли якщо тільки було бути може час тут там де хто дуже ще або вони нас добре треба після "
    "перед через завжди ніколи сьогодні завтра вчора робота місто людина слово день життя питання "
    "сервер таблиця дякую зрозуміло звичайно помилка відповідь"
).split()
EMOJI = ("🙂", "👍", "🎉", "👩‍💻", "🇺🇦", "❤️")
TOOLS = {
    "search_documents": ("query", "limit", "language"),
    "read_file": ("path", "start", "end"),
    "get_weather": ("city", "units", "days"),
    "run_query": ("statement", "database", "timeout"),
}


def clean(size: int) -> Conversation:
    """`size` messages behind a system message, legal for every provider as they stand."""
    random = Random(size)
    messages = [system("You are a careful assistant. " + words(random, 400))]
    messages.extend(turns(random, size))
    settings = Settings(max_tokens=4096)
    return Conversation(tuple(messages), tools(), settings=settings)


def dirty(size: int) -> Conversation:
    """The same conversation after a hard life: about one message in ten needs a repair."""
    conversation = clean(size)
    random = Random(-size)
    messages: list[Message] = []
    for message in conversation.messages:
        if random.random() < 0.1:
            messages.extend(random.choice(DAMAGES)(message, random))
        else:
            messages.append(message)
    return replace(conversation, messages=tuple(messages))


# --- a conversation --------------------------------------------------------------------------


def turns(random: Random, size: int) -> Iterator[Message]:
    """Exactly `size` messages; the last is the user's or a tool's, so that it can be answered."""
    left, number = size, 0
    while left > 0:
        number += 1
        if left == 1:
            yield question(random)
            return
        calls = random.randint(1, 3) if random.random() < 0.2 else 0
        if left == 4:
            yield from (question(random), *exchange(random, 2, number))
            return
        if calls and left - (3 + calls) not in (2, 0) and left > 3 + calls:
            yield from (question(random), *exchange(random, calls, number), answer(random))
            left -= 3 + calls
        else:
            yield from (question(random), answer(random))
            left -= 2


def question(random: Random) -> Message:
    """What a user says, sometimes with a picture."""
    text = words(random, random.randint(20, 400))
    return user([text, picture(random)] if random.random() < 0.02 else text)


def answer(random: Random) -> Message:
    """What the assistant says."""
    return assistant(words(random, random.randint(50, 1500)))


def exchange(random: Random, calls: int, number: int) -> list[Message]:
    """Parallel calls in one message, and a message with the result of each."""
    made = [
        ToolCall(name, arguments(random, name), f"call_{number}_{place}")
        for place, name in enumerate(random.choices(list(TOOLS), k=calls))
    ]
    said = [Text(words(random, 80))] if random.random() < 0.5 else []
    results = [tool_result(call.id or "", found(random), name=call.name) for call in made]
    return [assistant([*said, *made]), *results]


def words(random: Random, length: int) -> str:
    """About `length` characters of one language, with an emoji now and then."""
    vocabulary = ENGLISH if random.random() < 0.6 else UKRAINIAN
    text = " ".join(random.choices(vocabulary, k=length // 5 + 1))[:length]
    return f"{text.strip()} {random.choice(EMOJI)}" if random.random() < 0.3 else text.strip()


def arguments(random: Random, name: str) -> dict[str, object]:
    """Arguments of a call, one of each common type."""
    first, second, third = TOOLS[name]
    return {
        first: words(random, random.randint(10, 80)),
        second: random.randint(1, 50),
        third: True,
    }


def found(random: Random) -> str:
    """What a tool answers: rows as JSON text."""
    wanted = random.randint(100, 3000)
    rows: list[dict[str, object]] = []
    while len(json.dumps(rows, ensure_ascii=False)) < wanted - 90:
        title = words(random, random.randint(10, 60))
        rows.append({"id": random.randint(1, 10**6), "title": title, "score": random.random()})
    return json.dumps({"rows": rows}, ensure_ascii=False)


def picture(random: Random) -> Media:
    """A small PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    row = b"\0" + random.randbytes(3) * 16
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0))
    data = header + chunk(b"IDAT", zlib.compress(row * 16)) + chunk(b"IEND", b"")
    content = b"\x89PNG\r\n\x1a\n" + data
    return Media("image", "image/png", base64.b64encode(content).decode())


def tools() -> tuple[Tool, ...]:
    """The definitions of the tools that are called."""
    return tuple(
        Tool(
            name,
            f"Use it to {name.replace('_', ' ')}.",
            {
                "type": "object",
                "properties": {
                    first: {"type": "string", "description": f"the {first}"},
                    second: {"type": "integer"},
                    third: {"type": "boolean"},
                },
                "required": [first],
            },
        )
        for name, (first, second, third) in TOOLS.items()
    )


# --- damage ----------------------------------------------------------------------------------


def lost(message: Message, random: Random) -> list[Message]:
    """Gone: a result without its call, a call without its result, two turns of one speaker."""
    return []


def twice(message: Message, random: Random) -> list[Message]:
    """Sent twice."""
    return [message, message]


def emptied(message: Message, random: Random) -> list[Message]:
    """A message of nothing but white space beside it."""
    return [message, replace(message, parts=(Text("  \n"),))]


def interrupted(message: Message, random: Random) -> list[Message]:
    """System text in mid-conversation."""
    return [message, system("Be brief from here on.")]


def thought(message: Message, random: Random) -> list[Message]:
    """Thinking that no provider signed."""
    return [message.with_parts((Thinking(words(random, 100)), *message.parts))]


def hidden(message: Message, random: Random) -> list[Message]:
    """A message that the model must not see."""
    return [message, replace(message, visibility="internal")]


DAMAGES: tuple[Callable[[Message, Random], list[Message]], ...] = (
    lost,
    twice,
    emptied,
    interrupted,
    thought,
    hidden,
)
