"""Everything that reads data of others: each takes bytes, and has samples to begin with."""

import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import contextwright as cw
from contextwright import importers, streams
from contextwright.context import recipe_files
from contextwright.documents.read import decode
from contextwright.errors import ContextwrightError
from contextwright.systems import port42
from samples import exports

MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-5.6-sol",
}
OTHERS = ("aya", "chatml", "contextwright", "forge", "gryag", "port42")
RECIPES = Path(recipe_files.__file__).parents[1] / "data" / "recipes"
FOLDER = tempfile.TemporaryDirectory(prefix="fuzz")
"""Where files are written for readers that want one."""

TALK = (
    cw.system("You book tables."),
    cw.user("A table for two?", author=cw.Author("U1", "Olena"), sent_at="2026-05-04T12:00:00Z"),
    cw.assistant(
        [
            cw.Thinking("Which day?", signature="c2ln", origin="anthropic"),
            cw.Text("Let me see."),
            cw.ToolCall("book", {"people": 2, "at": "13:00"}, id="call_1"),
            cw.ToolCall("weather", {}, id="call_2"),
        ]
    ),
    cw.tool_result("call_1", "Table 7"),
    cw.tool_result("call_2", "No such place", is_error=True),
    cw.user([cw.Text("See:"), cw.Media("image", "image/png", data="aGk=")]),
    cw.assistant("Table 7 is yours."),
)
TOOL = cw.Tool("book", "Book a table", {"type": "object", "properties": {"at": {"type": "string"}}})


class Reader(NamedTuple):
    """A reader, with the data it begins with."""

    read: Callable[[bytes], Iterator[object]]
    """Yields all that becomes of the data."""
    samples: tuple[bytes, ...]


def attempt(reader: Reader, data: bytes) -> list[object]:
    """Return all that becomes of data; one of our own errors is an outcome like others.

    Raises:
        Exception: any other error, which is a fault of the reader.
    """
    outcome: list[object] = []
    try:
        for one in reader.read(data):
            outcome.append(one)
    except ContextwrightError as error:
        outcome.append(error)
    return outcome


def result_of(call: Callable[..., object], *given: object, **options: object) -> object:
    """Return what a call gives, or its error, if that is one of ours."""
    try:
        return call(*given, **options)
    except ContextwrightError as error:
        return error


def read_body(format: str, data: bytes) -> Iterator[object]:
    """Read a request, write it in every format, check, count and build it."""
    body = decode(data)
    if format in MODELS:
        yield cw.check(body, format)
        yield result_of(cw.count, body, model=MODELS[format], format=format)
    conversation = cw.parse(body, format)
    yield conversation
    for target in (*MODELS, *OTHERS):
        yield result_of(cw.render, conversation, target, model=MODELS.get(target, "gpt-4o"))
    context = result_of(cw.build, conversation, "default", model="gpt-4o", budget=300)
    yield context.explain() if isinstance(context, cw.Context) else context


def read_reply(format: str, data: bytes) -> Iterator[object]:
    """Read a reply and write it for clients of every provider."""
    reply = cw.parse_reply(decode(data), format)
    yield reply
    for target in MODELS:
        yield streams.write_reply(reply, target)
        yield list(streams.write_stream(streams.events_of(reply), target))


def read_stream(format: str, data: bytes) -> Iterator[object]:
    """Read a stream in two pieces, and write it for clients of every provider."""
    middle = len(data) // 2
    events = list(streams.read_stream([data[:middle], data[middle:]], format))
    yield events
    yield streams.gather(events, format)
    for target in MODELS:
        yield list(streams.write_stream(events, target))


def read_export(format: str | None, name: str, data: bytes) -> Iterator[object]:
    """Read a file of another tool, whether or not its format is known."""
    path = Path(FOLDER.name, name)
    path.write_bytes(data)
    for one in importers.read(path, format, branches=True):
        yield one.whole()
        yield one.id, one.title, one.agent, one.parent, one.at, one.lines, one.report.skipped


def read_archive(data: bytes) -> Iterator[object]:
    """Read a zip of a Slack workspace, whose members stand in one JSON object."""
    members = decode(data)
    if not isinstance(members, dict):
        return
    path = Path(FOLDER.name, "slack.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in cast("dict[str, Any]", members).items():
            archive.writestr(zipfile.ZipInfo(name or "x"), as_json(value))
    yield from read_export("slack", path.name, path.read_bytes())


def read_recipe(name: str, data: bytes) -> Iterator[object]:
    """Read a recipe, and build with it."""
    path = Path(FOLDER.name, name)
    path.write_bytes(data)
    context = recipe_files.load(path).build(TALK, model="gpt-4o", budget=500)
    yield context.payload
    yield context.explain()


def read_agents(data: bytes) -> Iterator[object]:
    """Read an `agents.json`, and the recipe of each agent."""
    agents = port42.parse_agents(decode(data))
    for name in agents.agents:
        yield result_of(port42.recipe, agents, name)


def read_error(data: bytes) -> Iterator[object]:
    """Read the body of an HTTP error, and write it for clients of every provider."""
    error = streams.read_error(400, {"retry-after": data[:20].decode("latin-1")}, data)
    yield error
    for target in MODELS:
        yield streams.write_error(error, target)


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def as_lines(values: Iterable[Any]) -> bytes:
    return b"".join(as_json(value) + b"\n" for value in values)


def bodies(format: str) -> tuple[bytes, ...]:
    """Requests of a format."""
    whole = cw.Conversation(TALK, (TOOL,))
    short = cw.Conversation(TALK[:2])
    return tuple(
        as_json(cw.render(one, format, model=MODELS.get(format, "gpt-4o")).payload)
        for one in (whole, short)
    )


def reply_to(format: str) -> bytes:
    return as_json(streams.write_reply(TALK[2], format, model=MODELS[format]).body)


def stream_of(format: str) -> bytes:
    reply = cw.parse_reply(json.loads(reply_to(format)), format)
    return b"".join(streams.write_stream(streams.events_of(reply), format, model=MODELS[format]))


def all_readers() -> dict[str, Reader]:
    """Every reader by its name."""
    readers = {
        f"{format}-body": Reader(partial(read_body, format), bodies(format))
        for format in (*MODELS, *OTHERS)
    }
    for format in MODELS:
        reply, stream = (reply_to(format),), (stream_of(format),)
        readers[f"{format}-reply"] = Reader(partial(read_reply, format), reply)
        readers[f"{format}-stream"] = Reader(partial(read_stream, format), stream)
    files: dict[str, tuple[str, bytes]] = {
        "chatgpt": ("conversations.json", as_json(exports.CHATGPT)),
        "claude": ("conversations.json", as_json(exports.CLAUDE)),
        "telegram": ("result.json", as_json(exports.TELEGRAM)),
        "claude-code": ("session.jsonl", as_lines(exports.CLAUDE_CODE)),
        "codex": ("rollout.jsonl", as_lines(exports.CODEX)),
        "openai-finetuning": ("train.jsonl", as_lines(exports.FINETUNING)),
    }
    for format, (name, data) in files.items():
        readers[f"{format}-export"] = Reader(partial(read_export, format, name), (data,))
    detected = tuple(data for _, data in files.values())
    readers["any-export"] = Reader(partial(read_export, None, "export.json"), detected)
    readers["slack-export"] = Reader(read_archive, (as_json(exports.SLACK),))
    recipes = tuple(path.read_bytes() for path in sorted(RECIPES.iterdir()))
    readers["recipe"] = Reader(partial(read_recipe, "mine.toml"), recipes)
    readers["agents"] = Reader(read_agents, (as_json(AGENTS),))
    readers["error"] = Reader(read_error, (b'{"error": {"type": "x", "message": "no"}}',))
    return readers


AGENTS = {
    "agents": {"@cook": {"name": "Cook", "system_prompt": "You cook.", "model": "claude-sonnet-4"}},
    "base_guidance": {"style": ["Be brief."]},
}
