"""What the model does in a test of a client: it calls a tool twice at once, then answers."""

from collections.abc import Iterator

from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.events import ReplyError, Usage
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.tools import at_home
from providers.standin import Request, StandIn, said
from serve.clients.table import FIRST, SECOND, Client

ANSWERS = {FIRST: "Both words were printed.", SECOND: "There is nothing else."}
WORDS = ("alpha", "beta")


class Script:
    """The model behind an upstream; the first try of the second turn is refused with 429."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.server: StandIn | None = None
        self.questions: list[tuple[str, bool]] = []
        """What was asked, and whether with the results of the calls."""
        self.mixed_up: list[str] = []
        self.busy = client.refused_once

    def __call__(self, request: Request) -> ModelReply | ReplyError:
        conversation = cw.parse(request.body, request.format)
        tool = self.tool(conversation)
        question, done = asked(conversation)
        if tool is None or question is None:
            return said("A title")
        self.mixed_up += mixed_up(conversation)
        if question == SECOND and self.busy:
            self.busy = False
            return ReplyError("rate_limit", "Slow down", 429, retry_after=1)
        self.questions.append((question, done))
        calls = question == FIRST and not done
        answer = self.calls(request, tool) if calls else said(ANSWERS[question])
        return replace(answer, usage=Usage(1_000, 50, cached=600))

    def tool(self, conversation: cw.Conversation) -> cw.Tool | None:
        """The client's tool, whatever it is called on the way."""
        for tool in conversation.tools:
            if isinstance(tool, cw.Tool) and tool.name.endswith(self.client.tool):
                return tool
        return None

    def calls(self, request: Request, tool: cw.Tool) -> ModelReply:
        """Signed thinking, and a call for each word."""
        assert self.server is not None
        format = request.format
        calls = [
            at_home(
                cw.ToolCall(tool.name, self.client.arguments(word), f"call_{word}"),
                tool.name,
                tool,
                format,
            )
            for word in WORDS
        ]
        if format == "openai-chat":
            return said("Wait.", *calls)
        signature = self.server.sign(format, request.model)
        if format == "gemini":
            signed = {**calls[0].extra, "gemini": {"thoughtSignature": signature}}
            return said(replace(calls[0], extra=signed), *calls[1:])
        return said(cw.Thinking("Hm.", signature=signature, origin=format), *calls)

    def findings(self) -> Iterator[str]:
        """What of the conversation did not come about."""
        assert self.server is not None
        for turn in ((FIRST, False), (FIRST, True), (SECOND, True)):
            if turn not in self.questions:
                yield f"never asked: {turn}"
        yield from (f"refused: {reason}" for reason in self.server.refused)
        yield from self.mixed_up
        lost = set(self.server.signed) - self.server.returned
        yield from (f"signature lost: {self.server.signed[one][0]}" for one in lost)


def asked(conversation: cw.Conversation) -> tuple[str | None, bool]:
    """The newest question, and whether results came after the first one."""
    found: str | None = None
    for message in conversation.messages:
        if message.role == "user":
            for question in (FIRST, SECOND):
                if question in message.text:
                    found = question
    return found, any(message.results for message in conversation.messages)


def mixed_up(conversation: cw.Conversation) -> Iterator[str]:
    """Calls whose result is that of another; without ids they stand in the same order."""
    calls = [call for message in conversation.messages for call in message.calls]
    results = [result for message in conversation.messages for result in message.results]
    words = {call.id: word_in(call) for call in calls}
    for place, result in enumerate(results):
        word = words.get(result.call_id) if result.call_id else word_in(calls[place])
        if f"42-{word}" not in result.text:
            yield f"the result of {word} is {result.text[:200]!r}"


def word_in(call: cw.ToolCall) -> str:
    return next((word for word in WORDS if word in str(call.arguments)), "another call")
