"""`cw chat`: talk with a model; every turn is stored."""

from __future__ import annotations

from typing import Annotated

import msgspec

from contextwright.ask.events import Answer
from contextwright.cli.arguments import read_text
from contextwright.cli.chat.attachments import message_of
from contextwright.cli.chat.session import Session, receipt_line
from contextwright.cli.options import Conversation, Option, RequestOptions, StoreOptions
from contextwright.cli.output import complain, input_is_terminal, note, on_terminal, written
from contextwright.cli.requests.snapshots import RequestTask
from contextwright.cli.stores import opened
from contextwright.errors import ContextwrightError, UsageError
from contextwright.formats.replies.events import TextDelta
from contextwright.messages.message import Message
from contextwright.text.terminal import safe

__all__ = ["chat"]

EARLIER = 200
"""Number of messages to read for the history of the input line."""


def chat(
    conversation: Conversation,
    request: RequestOptions,
    where: StoreOptions,
    provider: Annotated[
        str | None,
        Option("--provider", metavar="HOST", help="Host to ask. Default: the model's own."),
    ] = None,
    base_url: Annotated[
        str | None,
        Option("--base-url", metavar="URL", help="Address of the host, if not the usual one."),
    ] = None,
    attach: Annotated[
        list[str] | None,
        Option("--attach", "-a", metavar="FILE", help="File to send with the first question."),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print every event as a line of JSON.")] = False,
) -> int:
    """Talk with a model; every turn is stored.

    On a terminal, type and press Enter; /help lists the commands, @PATH sends a file, Ctrl-C stops
    an answer, Ctrl-D leaves. In a pipe, standard input is the question and the answer goes to
    standard output. The key is that of the provider's environment variable; the model echo answers
    offline.

    \b
    cw chat lunch --model claude-sonnet-5-5
    echo "What did we decide?" | cw chat lunch --model gpt-5.6-sol
    cw chat photos --model echo --attach picture.png
    """
    task = RequestTask.of(request)
    if base_url is not None and provider is None:
        raise UsageError("--base-url needs --provider", hint="--provider openai --base-url URL")
    with opened(where) as store:
        talk = Session(store.conversation(conversation), task, provider, base_url)
        with talk as session:
            if as_json or not (on_terminal() and input_is_terminal()):
                return answer_once(session, message_of(read_text("-"), attach or ()), as_json)
            return converse(session, attach or [])


def answer_once(session: Session, message: Message, as_json: bool) -> int:
    """Answer one question in a pipe: the text alone, or every event as JSON."""
    if not message.parts:
        raise UsageError("standard input is empty", hint="echo 'Hello' | cw chat …")
    answer: Answer | None = None
    with written(None) as write:
        for event in session.ask(message):
            if isinstance(event, Answer):
                answer = event
            if as_json:
                write(msgspec.json.encode(event) + b"\n")
            elif isinstance(event, TextDelta):
                write((safe(event.text) if on_terminal() else event.text).encode())
        if not as_json:
            write(b"\n")
    if answer is None:
        return 1
    if answer.error is not None:
        complain(f"the answer broke off: {answer.error.message}")
    if not as_json:
        note(f"cw: {receipt_line(answer)}")
    return 0 if answer.finish == "stop" else 1


def converse(session: Session, files: list[str]) -> int:
    """Talk until the user leaves."""
    from contextwright.cli.chat.screen import prompt_session

    prompt = prompt_session(questions(session))
    note(f"{session.task.model.id} · /help lists the commands, Ctrl-D leaves")
    while True:
        try:
            line = prompt.prompt()
            if line.strip():
                respond(session, line, files)
                files = []
        except KeyboardInterrupt:
            continue  # ignore an empty line
        except EOFError:
            return 0


def respond(session: Session, line: str, files: list[str]) -> None:
    """Run a command, or ask and show the answer; an error is one line."""
    from rich.console import Console

    from contextwright.cli.chat import commands
    from contextwright.cli.chat.screen import Screen

    try:
        if line.startswith("/"):
            commands.run(session, line.strip())
            return
        events = session.ask(message_of(line, files))
        with Screen(Console(highlight=False, markup=False, emoji=False)) as screen:
            for event in events:
                screen.show(event)
    except KeyboardInterrupt:
        note("stopped; what came is kept")
    except ContextwrightError as error:
        complain(str(error))


def questions(session: Session) -> list[str]:
    """Return the last questions of the conversation, oldest first."""
    if not session.is_begun:
        return []
    said = [stored.message for stored in session.chat.tail(EARLIER)]
    return [one.text for one in said if one.role == "user" and one.text.strip()]
