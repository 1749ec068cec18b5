"""Conversations with tools of every shape, settings, and several speakers of one name."""

from hypothesis import strategies as st

import contextwright as cw
from contextwright.messages import OutputFormat

SPACE = {"type": "namespace", "name": "ns", "description": "d"}
TOOLS = (
    cw.Tool("get weather"),
    cw.Tool("get_weather", "d", {"type": "object", "properties": {}}),
    cw.Tool("ns__run", extra={"openai-responses": {"type": "custom", "namespace": SPACE}}),
    cw.Tool("free", extra={"openai-chat": {"type": "custom", "custom": {}}}),
    cw.Opaque("openai-responses", {"type": "web_search"}),
    cw.Opaque("anthropic", {"type": "code_execution_20250825", "name": "code_execution"}),
    cw.Opaque("gemini", {"urlContext": {}}),
    cw.Opaque("anthropic", {"type": "bash_20250124", "name": "bash"}),
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
settings = st.builds(
    cw.Settings,
    max_tokens=st.sampled_from((None, -1, 0, 100, 5_000, 128_000, 2_000_000)),
    temperature=st.sampled_from((None, 0.5, 1.5, -1.0, 3)),
    tool_choice=st.sampled_from((None, cw.ToolChoice("auto"), cw.ToolChoice("none"))),
    parallel_calls=st.sampled_from((None, True, False)),
    effort=st.sampled_from((None, "none", "minimal", "medium", "max")),
    thinking_budget=st.sampled_from((None, 0, 4_000)),
    show_thinking=st.sampled_from((None, True, False)),
    output=st.sampled_from((None, OutputFormat(), OutputFormat(SCHEMA, strict=True))),
    top_k=st.sampled_from((None, 3)),
    seed=st.sampled_from((None, 7)),
    stream=st.sampled_from((None, True)),
    user=st.sampled_from((None, "u1")),
)
ALICES = (cw.Author("U1", "Alice"), cw.Author("U2", "Alice"), cw.Author(name="Alice"))


@st.composite
def exchange(draw: st.DrawFn) -> list[cw.Message]:
    """A question by one of several people of one name, and perhaps a call and its result."""
    asked = cw.user("What now?", author=draw(st.sampled_from((None, *ALICES))))
    if draw(st.booleans()):
        return [asked, cw.assistant("This.")]
    id = draw(st.sampled_from(("a", "a", "b", "")))
    call = cw.ToolCall(draw(st.sampled_from(("get_weather", "ns__run", "free"))), {}, id)
    failed = draw(st.booleans())
    words = draw(st.sampled_from(("", "ok")))
    return [asked, cw.assistant(call), cw.tool_result(id, words, is_error=failed)]


requests = st.builds(
    lambda turns, tools, chosen: cw.Conversation(
        (*(message for turn in turns for message in turn), cw.user("So?")),
        tuple(tools),
        settings=chosen,
    ),
    st.lists(exchange(), max_size=3),
    st.lists(st.sampled_from(TOOLS), max_size=4, unique_by=str),
    settings,
)
