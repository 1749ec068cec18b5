"""Damage to data: to its bytes, and to the values in it if it is JSON."""

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

MAX_BYTES = 100_000
JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e308, 10**30, "", " ", "\x00", "\ud800", "\u202e", "zzz", "1",
    "2026-13-45", "data:;base64,", "<tool>", "<|im_start|>", "../../etc", "[]", "{}",
    [], [[]], [{}], [None], {}, {"": ""}, {"type": {}}, {"type": "zzz"}, {"text": []}, {"id": {}},
)  # fmt: skip
BYTES = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\\ud800", b"\\u0000", b"1e999", b"-", b"NaN",
    b"\n\n", b"\r", b"data:", b"event:", b"[DONE]", b"{", b"}", b"[", b"]", b'"', b",", b":",
    b"</tool>", b"<|im_end|>", b"[[", b"\x1b[2J",
)  # fmt: skip


def mutated(data: bytes, others: Sequence[bytes], random: Random) -> bytes:
    """Return data with one to four faults; `others` are good for parts."""
    for _ in range(random.randint(1, 4)):
        change = random.choice((change_bytes, change_value, change_value, change_line))
        data = change(data, random.choice(others), random)[:MAX_BYTES]
    return data


def change_bytes(data: bytes, other: bytes, random: Random) -> bytes:
    """Flip, remove, repeat or insert a few bytes."""
    start = random.randint(0, len(data))
    stop = min(len(data), start + random.choice((1, 1, 2, 8, 64, 1_000)))
    held = data[start:stop]
    place = random.randint(0, len(other))
    new = random.choice(
        (
            b"",
            held * random.choice((2, 3, 1_000)),
            bytes(byte ^ 1 << random.randint(0, 7) for byte in held),
            random.choice(BYTES) + held,
            other[place : place + 100],
        )
    )
    return data[:start] + new + data[stop:]


def change_line(data: bytes, other: bytes, random: Random) -> bytes:
    """Remove, repeat, swap or take over a line: streams and logs have many."""
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    change: Callable[[], object] = random.choice(
        (
            lambda: lines.pop(place),
            lambda: lines.insert(place, lines[place]),
            lambda: lines.insert(0, lines.pop(place)),
            lambda: lines.insert(place, random.choice(other.split(b"\n"))),
        )
    )
    change()
    return b"\n".join(lines)


def change_value(data: bytes, other: bytes, random: Random) -> bytes:
    """Change one value of a JSON document, or of one of its lines."""
    head, line, tail = one_line(data, random)
    prefix = b"data: " if line.startswith(b"data: ") else b""
    value = decoded(line.removeprefix(prefix))
    spots = list(spots_of(value))
    if not spots:
        return change_bytes(data, other, random)
    holder, key = random.choice(spots)
    match random.randrange(6):
        case 0:
            del holder[key]
        case 1:
            holder[key] = [holder[key]] * random.choice((1, 2, 300))
        case 2 if isinstance(holder, list):
            holder.insert(random.randint(0, len(holder)), holder[key])
        case 3 if isinstance(holder, dict):
            holder[random.choice([str(one) for _, one in spots])] = holder.pop(key)
        case 4:
            donors = list(spots_of(decoded(one_line(other, random)[1]))) or spots
            donor, place = random.choice(donors)
            holder[key] = json.loads(json.dumps(donor[place]))
        case _:
            holder[key] = random.choice(JUNK)
    return head + prefix + json.dumps(value).encode() + tail


def one_line(data: bytes, random: Random) -> tuple[bytes, bytes, bytes]:
    """Return what is before a line that may be JSON, the line, and what is after it."""
    lines = data.split(b"\n")
    chosen = [n for n, line in enumerate(lines) if line.strip().endswith((b"}", b"]"))] or [0]
    place = random.choice(chosen)
    head = b"".join(line + b"\n" for line in lines[:place])
    tail = b"".join(b"\n" + line for line in lines[place + 1 :])
    return head, lines[place], tail


def decoded(data: bytes) -> Any:
    """Return the value; None if it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def spots_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every object and list with each of its keys or indexes."""
    waiting = [value] if isinstance(value, dict | list) else []
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
