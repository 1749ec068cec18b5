"""Requests in few lines, for the examples beside this file."""

import json
from typing import Any

import contextwright as cw

PROVIDERS = {
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
}
PROMPTS = ("system", "instructions", "systemInstruction")
TURNS = ("messages", "input", "contents")
WIDTH = 100


def build_for_all(chat: cw.Chat, recipe: cw.Recipe, own: str, **given: Any) -> None:
    """Build a stored conversation for its own provider, then for the three others."""
    for format in (own, *(format for format in PROVIDERS if format != own)):
        print_request(chat.context(recipe, model=PROVIDERS[format], format=format, **given))


def print_request(context: cw.Context) -> None:
    """The request, one line for each message, and what had to change for it to be accepted."""
    problems = cw.check(context.payload, context.format, model=context.model)
    errors = [str(problem) for problem in problems if problem.level == "error"]
    print(f"\n== {context.format} ({context.model.id}): {'; '.join(errors) or 'legal'}")
    for field in PROMPTS:
        if field in context.payload:
            print_line(field, context.payload[field])
    for field in TURNS:
        for message in context.payload.get(field, ()):
            print_line(" ", message)
    # One line for each kind of change: what happens to one message often happens to many.
    changes = {(change.code, change.reason): change for change in reversed(context.changes)}
    for change in reversed(changes.values()):
        print(f"  ~ {change}")


def print_line(name: str, value: Any) -> None:
    """A value as one line of JSON, cut where it gets long."""
    line = f"{name} {json.dumps(value, ensure_ascii=False)}"
    print(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…")


def take_words_back(chat: cw.Chat, recipe: cw.Recipe, edited: int, deleted: int) -> None:
    """A message is edited, a thread begins at it, another is deleted, and the first is erased."""
    old = spoken(chat, edited)
    chat.edit(edited, "Other words.")
    print(f"\n== taken back\n{edited} edited: {spoken(chat, edited)!r}, before {old!r}")

    # A thread is a conversation of its own: it has what was said up to there, and adds its own.
    thread = chat.fork(f"{chat.id}-thread", at=edited)
    thread.add(cw.user("Said in the thread alone."))
    print(f"thread: {len(thread)} messages, the chat has {len(chat)}")

    # A deleted message is hidden until `show` brings it back; an erased one is gone for good.
    chat.delete(deleted)
    print(f"{deleted} deleted: {spoken(chat, deleted)!r}")
    chat.show(deleted)
    done = chat.erase(edited)
    print(f"{edited} erased: {done.messages} message, in the thread {spoken(thread, edited)!r}")
    context = chat.context(recipe, model=PROVIDERS["anthropic"], format="anthropic")
    print("receipt:", [one.reason for one in context.decisions if one.action == "dropped"][:1])


def spoken(chat: cw.Chat, number: int) -> str:
    """What a message says to whoever reads the conversation."""
    (stored,) = chat.read(number, number + 1)
    return stored.message.text or f"({stored.message.visibility})"
