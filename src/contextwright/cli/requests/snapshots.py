"""The options of a call, turned into requests for stored conversations and files."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from contextwright import formats, importers
from contextwright.cli.arguments import find_model
from contextwright.cli.inputs import about, is_file, read_conversation
from contextwright.cli.options import RequestOptions, StoreOptions
from contextwright.cli.output import numbered
from contextwright.cli.stores import existing_chat
from contextwright.context import recipe_files
from contextwright.context.context import Context
from contextwright.context.recipe import Recipe
from contextwright.documents.read import read_document
from contextwright.errors import NotFound, UsageError, shown
from contextwright.formats.given import parse_tools
from contextwright.formats.port42.agents import Agents, parse_agents
from contextwright.formats.port42.format import agent_of
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque
from contextwright.models import Model
from contextwright.store.chat import Chat
from contextwright.store.frames import frame_of, newest_question_time, question_time

__all__ = [
    "RequestTask",
    "Source",
    "first_messages",
    "recipe_of",
    "stored_arguments",
]


class Source(Struct, frozen=True):
    """The source of a conversation: a file, or a store."""

    name: str
    """A file, `-`, or the id of a stored conversation."""
    format: str | None
    """The format of the file; None: detected."""
    where: StoreOptions

    @property
    def is_file(self) -> bool:
        """Whether the name is a file's: an explicit format or store decides, else the disk.

        Raises:
            UsageError: both a format and a store are given.
        """
        if self.format is None:
            return not self.where.is_named and is_file(self.name)
        if self.where.is_named:
            hint = "leave out --from, or --store and --tenant"
            raise UsageError("--from reads a file, --store a stored conversation", hint=hint)
        importers.find(self.format)
        return True

    def read(self) -> Conversation:
        """Read the conversation of the file."""
        return read_conversation(self.name, self.format)

    @contextmanager
    def chat(self) -> Generator[Chat]:
        """Return the stored conversation.

        Raises:
            NotFound: it does not exist, and there is no such file either.
        """
        with ExitStack() as stack:
            try:
                chat = stack.enter_context(existing_chat(self.where, self.name))
            except NotFound as error:
                if self.where.is_named:
                    raise with_hint(error, self.name) from None
                name, hint = shown(self.name), error.hint
                missing = f"there is no file {name}"
                if os.path.isdir(self.name):
                    missing, hint = f"{name} is a folder", "cw import stores what it holds"
                raise NotFound(f"{missing}, and {error.args[0]}", hint=hint) from None
            yield chat


def with_hint(error: NotFound, name: str) -> NotFound:
    """Return an error about a stored conversation; it says how to read the file of that name."""
    if not os.path.isfile(name):
        return error
    return NotFound(str(error.args[0]), hint="it is a file: leave out --store to read it")


class RequestTask(Struct, frozen=True, kw_only=True):
    """How to make a request from a conversation."""

    recipe: Recipe
    model: Model
    format: str | None = None
    budget: int | None = None
    now: datetime | None = None
    """The current time for time sections; None: the time of the newest question."""
    tools: tuple[Tool | Opaque, ...] | None = None
    """Tools instead of the conversation's own."""
    agents: Agents | None = None
    """The agents of Port 42, one of which answers."""
    agent: str | None = None
    """The agent that answers; None: the conversation's own."""

    @classmethod
    def of(cls, options: RequestOptions, now: datetime | None = None) -> RequestTask:
        """Return the task that options describe.

        Raises:
            UsageError: the model, the format, the recipe or the tools do not exist.
        """
        model = find_model(options.model, options.models)
        formats.find(options.format or model.format)
        tools = None
        if options.tools is not None:
            with about(options.tools):
                tools = parse_tools(read_document(options.tools))
        return cls(
            recipe=recipe_of(options.recipe, options.max_output_tokens),
            agents=agents_of(options),
            agent=options.agent,
            model=model,
            format=options.format,
            budget=options.budget,
            now=now,
            tools=tools,
        )

    def instructed(self, own_agent: object) -> tuple[Recipe, tuple[Change, ...]]:
        """Return the recipe with the instructions of the agent that answers, and the changes.

        Raises:
            UsageError: there are agents, and none of them is chosen.
        """
        name = own_agent if self.agent is None else self.agent
        if self.agents is None:
            return self.recipe, uninstructed(self.recipe, name)
        if not isinstance(name, str) or not name.strip():
            hint = f"--agent NAME; known: {', '.join(self.agents.agents) or 'none'}"
            raise UsageError("the conversation names no agent", hint=hint)
        from contextwright.systems import port42

        recipe, changes = port42.recipe(self.agents, name)
        answer = self.recipe.answer
        if answer != recipe_files.find("port42").answer:
            recipe = msgspec.structs.replace(recipe, answer=answer)
        return recipe, changes

    def build(self, conversation: Conversation, now: datetime | None = None) -> Context:
        """Build the request for a conversation that was read from a file."""
        recipe, changes = self.instructed(agent_of(conversation))
        context = recipe.build(
            conversation,
            model=self.model,
            format=self.format,
            tools=self.tools,
            now=now or self.now or question_time(reversed(conversation.messages)),
            budget=self.budget,
        )
        return msgspec.structs.replace(context, changes=(*changes, *context.changes))

    def build_from(
        self, source: Source, at: int | None = None
    ) -> tuple[tuple[Change, ...], Context]:
        """Return the repairs of reading, and the request after message `at`, or the last one."""
        if source.is_file:
            conversation = first_messages(source.read(), at)
            with about(source.name):
                return conversation.changes, self.build(conversation)
        with source.chat() as chat:
            recipe, arguments = stored_arguments(self, chat, at=at)
            return self.instructed(chat.details().agent)[1], chat.context(
                recipe, **arguments, at=at
            )


def uninstructed(recipe: Recipe, agent: object) -> tuple[Change, ...]:
    """Return the change for an agent that answers without instructions, in Port 42's recipe."""
    if recipe.name != "port42" or not isinstance(agent, str):
        return ()
    reason = f"the instructions of {shown(agent)} are not sent; name agents.json with --agents"
    return (Change("loss.instructions", "agent", reason),)


def agents_of(options: RequestOptions) -> Agents | None:
    """Return the agents of a call; they belong to Port 42's recipe.

    Raises:
        UsageError: an agent is given without agents, or with another recipe.
    """
    if options.agents is None:
        if options.agent is not None:
            raise UsageError("--agent needs --agents", hint="name agents.json with --agents")
        return None
    if options.recipe != "port42":
        raise UsageError("--agents belongs to --recipe port42", hint="add --recipe port42")
    with about(options.agents):
        return parse_agents(read_document(options.agents))


def recipe_of(name: str, max_output_tokens: int | None) -> Recipe:
    """Return a recipe by name or file, with another reserve for the answer if given."""
    recipe = recipe_files.find(name)
    if max_output_tokens is None:
        return recipe
    return msgspec.structs.replace(recipe, answer=max_output_tokens)


def first_messages(conversation: Conversation, at: int | None) -> Conversation:
    """Return the conversation as it was after message `at`; None: after all of them.

    Raises:
        UsageError: it has fewer messages.
    """
    if at is None:
        return conversation
    count = len(conversation.messages)
    if at > count:
        raise UsageError(f"--at {at:,}: the conversation has {numbered(count, 'message')}")
    return msgspec.structs.replace(conversation, messages=conversation.messages[:at])


# --- stored conversations ------------------------------------------------------------------------


def stored_arguments(
    task: RequestTask, chat: Chat, *, at: int | None = None, now: datetime | None = None
) -> tuple[Recipe, dict[str, Any]]:
    """Return the recipe and the other arguments of `Chat.context` for a task."""
    details = chat.details()
    frame, recipe = frame_of(details), task.instructed(details.agent)[0]
    reply_tools = {**frame.reply_tools, **recipe.reply_tools}
    return msgspec.structs.replace(recipe, reply_tools=reply_tools), {
        "model": task.model,
        "format": task.format,
        "tools": frame.tools if task.tools is None else task.tools,
        "now": now or task.now or newest_question_time(chat, at),
        "budget": task.budget,
    }
