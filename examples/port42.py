"""Port 42, agents on Claude: agents.json as recipes, session files into a store and back.

`parse_agents` reads `agents.json` in both its layouts, `port42.recipe` makes a recipe of one
agent. `Sessions` reads and writes the files below `~/.port42/memory/sessions`; a session is found
by the id inside its file, wherever that lies.

On the command line: `cw import ~/.port42/memory/sessions`, and `cw export ID --format port42`.
"""

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import contextwright as cw
from contextwright import importers
from contextwright.importers.intake import Intake
from contextwright.systems import port42
from contextwright.systems.port42 import Sessions, log_lines, parse_agents
from outline import build_for_all, take_words_back

AGENTS = {
    "agents": {
        "engineer": {
            "name": "@ai-engineer",
            "prompt": "You are @ai-engineer, a technical consciousness within Port 42.",
            "personality": "Technical, thorough, practical, reliable",
        }
    },
    "base_guidance": {"implementation": "Write commands that do one thing."},
    # Port 42 itself has 20, 17 and 3; smaller numbers are quicker to look at.
    "response_config": {
        "context_window": {"max_messages": 7, "recent_messages": 4, "system_messages": 3}
    },
}
BEGUN = datetime(2025, 7, 20, 9, 0, tzinfo=UTC)


def session(id: str, count: int) -> dict:
    """A session as Port 42 saves it, with this number of messages."""
    messages = [
        {
            "role": ("user", "assistant")[place % 2],
            "content": f"{('Make it tidy', 'Done')[place % 2]}, step {place // 2 + 1}",
            "timestamp": (BEGUN + timedelta(minutes=place)).isoformat(),
        }
        for place in range(count)
    ]
    return {"id": id, "agent": "@ai-engineer", "messages": messages, "state": "idle"}


with tempfile.TemporaryDirectory() as home, cw.Store(Path(home) / "port42.db") as store:
    # An agent becomes a recipe: its prompt is the system parameter, its window the recipe's.
    recipe, _ = port42.recipe(parse_agents(AGENTS), "@ai-engineer")
    _, changes = port42.recipe(parse_agents(AGENTS), "@ai-nobody")
    print(*changes, sep="\n")

    # Session files as they lie on the disk, taken into the store: `cw import` does the same.
    sessions = Sessions(Path(home) / "memory" / "sessions")
    for id, count in (("tidy", 18), ("new", 1)):
        sessions.save(cw.parse(session(id, count), "port42"), now=BEGUN)
    with importers.open_files(sessions.folder) as files:
        outcome = Intake(format="port42").into(store, files)
    print(f"{outcome.messages} messages of {outcome.conversations} sessions")

    # A session goes on by its id, in the store and in its file.
    chat = store.conversation("tidy")
    now = BEGUN + timedelta(hours=1)
    chat.add(cw.user("Which step was the last?", sent_at=now), key="request-1")
    held = sessions.open("tidy")
    new = [stored.message for stored in chat.read(start=len(held.messages) + 1)]
    held = sessions.added(held, *new)
    path = sessions.save(held, now=now)
    print(path.relative_to(home), len(held.messages), "messages, agent", chat.details().agent)
    print(json.loads((Path(home) / "memory" / "index.json").read_text("utf-8"))["stats"])

    # The window: the first two, a note, the newest. Port 42's log lines are lines of the receipt.
    context = chat.context(recipe, model="claude-sonnet-5-5")
    print(*log_lines(held, context), sep="\n")

    # A confused reply can be left out of every context, and stays in the store.
    chat.hide(18)
    context = chat.context(recipe, model="claude-sonnet-5-5")
    print(*log_lines(held, context)[1:], sep="\n")

    build_for_all(chat, recipe, own="anthropic")

    # Words that people take back.
    take_words_back(chat, recipe, edited=1, deleted=3)
