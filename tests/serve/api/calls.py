"""One sound call of every operation, for tests that go over all of them."""

from typing import Any, NamedTuple

from serve.api.client import of


class Sound(NamedTuple):
    """A call that succeeds."""

    path: str
    body: Any = None


SOUND: dict[str, Sound] = {
    "list_conversations": Sound("/conversations?limit=2"),
    "get_conversation": Sound(of()),
    "update_conversation": Sound(of(), {"title": "Lunch"}),
    "forget_conversation": Sound(of("forgotten")),
    "list_messages": Sound(f"{of()}/messages?from=3&count=2&preview=5"),
    "get_message": Sound(f"{of()}/messages/3"),
    "add_turn": Sound(f"{of('added')}/turns", {"messages": [{"role": "user", "content": "Hi"}]}),
    "build_context": Sound(f"{of()}/context?at=8&budget=900"),
    "build_context_with": Sound(f"{of()}/context?at=8", {"recipe": {"budget": 900}}),
    "get_payload": Sound(f"{of()}/payload?at=8&format=openai-chat"),
    "compare_contexts": Sound(f"{of()}/compare?at=8&with=at:4"),
}
"""By the name of the operation."""
