"""Recorded requests of real clients: passed on as they are, and in each of the other APIs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import contextwright as cw
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.settings import effort_of
from contextwright.formats.tools import at_home
from providers.standin import Request, said, serving
from serve.gateways import TOKEN, running
from serve.sdks import ask
from serve.upstreams import ENVIRONMENT, FORMATS, settings_for


class Recorded(NamedTuple):
    """A request of a client to generate."""

    name: str
    format: str
    body: dict[str, Any]
    streams: bool


def recorded(folder: Path) -> Iterator[Recorded]:
    """The requests to generate; those over WebSockets are refused, and come posted too."""
    for file in sorted((folder / "clients").glob("*.json")):
        format = file.name.split(".")[-3]
        record = json.loads(file.read_bytes())
        body, path = record["body"], record["request"]["path"]
        if format in FORMATS:
            streams = body.get("stream") is True or "stream" in path.rpartition("/")[2]
            yield Recorded(file.stem, format, body, streams)


@pytest.mark.slow
@pytest.mark.parametrize("upstream", FORMATS)
def test_every_tool_is_called_under_its_own_name(upstream: str, data_folder: Path) -> None:
    """The upstream calls each tool that arrives, the first of them twice at once."""

    def answer(request: Request) -> ModelReply:
        conversation = cw.parse(request.body, request.format)
        return said("Hello", *calls_of_all_tools(conversation, request.format))

    with (
        serving(answer) as server,
        running(settings_for(upstream, server), environment=ENVIRONMENT) as gateway,
    ):
        for client in recorded(data_folder):
            if client.format == upstream:
                continue
            format = client.format
            reply = ask(format, gateway.address, client.body, key=TOKEN, streams=client.streams)
            wanted = cw.parse(client.body, format)
            assert reply.message.text.strip() == "Hello", client.name
            calls = reply.message.calls
            assert [plain(call, format) for call in calls] == [
                plain(call, format) for call in calls_of_all_tools(wanted, format)
            ], client.name
            assert len({call.id for call in calls}) == len(calls)
            assert server.refused == [], client.name
            got = cw.parse(server.bodies[-1], upstream).settings
            if effort_of(wanted.settings) is None:  # in Chat Completions, functions may need none
                assert effort_of(got) in (None, "none"), client.name
            else:
                assert effort_of(got) is not None, client.name
            assert (got.output is None) == (wanted.settings.output is None), client.name


def calls_of_all_tools(conversation: cw.Conversation, format: str) -> Iterator[cw.ToolCall]:
    """A call of each tool that is not hosted, and of the first one more."""
    tools = [tool for tool in conversation.tools if isinstance(tool, cw.Tool)]
    for place, tool in enumerate([*tools[:1], *tools]):
        call = cw.ToolCall(tool.name, {"input": f"word {place}"}, f"call_{place}")
        yield at_home(call, tool.name, tool, format)


def plain(call: cw.ToolCall, format: str) -> tuple[Any, ...]:
    """A call as the client sees it, but for its id."""
    own = call.extra.get(format, {})
    custom = own.get("type") in ("custom", "custom_tool_call")
    return own.get("name", call.name), call.arguments, own.get("namespace"), custom
