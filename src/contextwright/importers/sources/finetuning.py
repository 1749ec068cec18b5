"""OpenAI fine-tuning files: JSON Lines, one conversation per line, with its tools.

Preference data has a question and two answers: the preferred one ends the conversation, the other
is reported or becomes a fork.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contextwright import formats
from contextwright.documents.files import Files
from contextwright.errors import ParseError
from contextwright.importers.base import (
    Fields,
    Imported,
    Importer,
    ReadOptions,
    Report,
    as_id,
    line_at,
)
from contextwright.importers.sources.any_format import Body, bodies, imported, marked
from contextwright.messages.conversation import Conversation
from contextwright.wire.values import is_list

__all__ = ["IMPORTER"]

NAME = "openai-finetuning"
FORMAT = "openai-chat"


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the examples of a file."""
    for body in bodies(files, least=1):
        try:
            yield from example(body, options.branches)
        except ParseError as error:
            line = line_at(error.path, body.lines)
            raise error.within(line=line, file=files.shown(body.file)) from None


def example(body: Body, branches: bool) -> Iterator[Imported]:
    """Yield one example: a conversation, or a question with two answers."""
    fields = Fields({"messages": body.data} if is_list(body.data) else body.data)
    if "preferred_output" not in fields.data:
        yield named(imported(parsed(fields.data), body))
        return
    question = fields.object("input").data
    asked = parsed(question)
    answers = [
        parsed({"messages": fields.list(name)}).messages
        for name in ("preferred_output", "non_preferred_output")
    ]
    whole = msgspec.structs.replace(asked, messages=asked.messages + answers[0])
    main = named(imported(whole, body))
    if not branches:
        main.report.skip("answer that was not preferred", len(answers[1]))
    yield main
    if branches and answers[1]:
        at, id = len(asked.messages), as_id(main.id, "rejected")
        messages = marked(answers[1], NAME, id, at)
        yield Imported(
            id=id, format=NAME, messages=messages, report=Report(), parent=main.id, at=at
        )


def parsed(body: dict[str, Any]) -> Conversation:
    """Parse a request body of Chat Completions."""
    return formats.find(FORMAT).parse(body, False)


def named(one: Imported) -> Imported:
    """Return the conversation under the name of this source."""
    return msgspec.structs.replace(one, format=NAME)


IMPORTER = Importer(NAME, "OpenAI fine-tuning data (JSON Lines)", read, ("branches",))
