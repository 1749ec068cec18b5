"""One sound call of every operation, for tests that go over all of them."""

from typing import Any, NamedTuple

from serve.api.client import FORGOTTEN, ID, MEMORY, PAYLOAD, of


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
    "fly": Sound(f"{of()}/flight?budget=900"),
    "export_conversation": Sound(f"{of()}/export?format=openai-chat"),
    "export_all": Sound("/export?format=openai-chat"),
    "import_file": Sound("/import?id=imported", PAYLOAD),
    "list_requests": Sound("/requests?limit=2"),
    "get_request": Sound("/requests/1"),
    "get_request_body": Sound("/requests/1/body"),
    "replay_request": Sound("/requests/1/replay?format=anthropic"),
    "export_request": Sound("/requests/1/export?as=python"),
    "compare_requests": Sound("/requests/1/compare?with=1"),
    "listen": Sound("/events"),
    "recall": Sound("/recall?q=soup&limit=3"),
    "search": Sound("/search?q=soup&limit=3"),
    "list_memories": Sound("/memories?limit=2"),
    "add_memory": Sound("/memories", {"text": "Likes soup.", "about": "U1234546"}),
    "update_memory": Sound(f"/memories/{MEMORY}", {"text": "Likes coffee.", "weight": 0.5}),
    "forget_memory": Sound(f"/memories/{FORGOTTEN}"),
    "simulate_recipes": Sound("/simulate", {"conversation": ID, "recipes": ["default", "013"]}),
    "convert_data": Sound("/convert", {"data": PAYLOAD, "to": "anthropic"}),
    "check_payload": Sound("/check", {"payload": PAYLOAD, "model": "gpt-4o"}),
    "count_tokens": Sound("/count", {"text": "How many?", "model": "gpt-4o"}),
    "list_recipes": Sound("/recipes"),
    "get_recipe": Sound("/recipes/gryag"),
    "list_formats": Sound("/formats"),
    "list_models": Sound("/models"),
    "get_model": Sound("/models/meta%2Fllama-4"),
}
"""By the name of the operation."""
