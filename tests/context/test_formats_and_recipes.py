"""Every recipe builds for every format, whatever the system text and the messages are."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright import formats
from contextwright.context import recipe_files
from contextwright.models import find
from contextwright.streams import restore_calls

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)
MODEL = find("gpt-4o")


@pytest.mark.parametrize("format", formats.NAMES)
@given(
    recipe=st.sampled_from(recipe_files.SHIPPED),
    system=st.lists(WORDS, max_size=2),
    words=st.lists(WORDS, min_size=1, max_size=3),
)
def test_every_recipe_builds_for_every_format(
    format: str, recipe: str, system: list[str], words: list[str]
) -> None:
    found = recipe_files.find(recipe)
    changed = msgspec.structs.replace(found, system=(*system, *found.system))
    messages = [(cw.user, cw.assistant)[place % 2](text) for place, text in enumerate(words)]
    context = changed.build(messages, model=MODEL, format=format, now=NOW)
    assert context.ledger.tokens <= context.ledger.most <= context.ledger.budget
    asked = [message.text for message in messages if message.role == "user"][-1]
    assert any(message.text.startswith(asked) for message in context.conversation.messages)


def test_another_format_gets_the_model_only_of_its_own_provider() -> None:
    context = cw.build([cw.user("Hi")], cw.Recipe(), model="claude-opus-5")
    written = {to: context.render(to).payload.get("model") for to in ("anthropic", "openai-chat")}
    own = cw.render([cw.user("Hi")], "openai-chat").payload["model"]
    assert written == {"anthropic": "claude-opus-5", "openai-chat": own}
    assert own != "claude-opus-5"


@pytest.mark.parametrize(
    ("format", "model"),
    {
        "openai-chat": "gpt-4o",
        "openai-responses": "gpt-5.6-sol",
        "anthropic": "claude-opus-5",
        "gemini": "gemini-3.8-flash",
    }.items(),
)
def test_calls_come_home_under_names_that_the_api_refuses(format: str, model: str) -> None:
    names = ["get weather", "get_weather", "9 o'clock", "погода"]
    tools = [cw.Tool(name) for name in names]
    context = cw.build([cw.user("Hi")], cw.Recipe(), model=model, format=format, tools=tools)
    sent = [tool.name for tool in cw.parse(context.payload, format).tools if type(tool) is cw.Tool]
    assert sent != names
    reply = cw.Conversation((cw.assistant([cw.ToolCall(name, {}, name) for name in sent]),))
    home = restore_calls(reply, context.conversation, context.tool_names)
    assert [call.name for call in home.messages[0].calls] == names
