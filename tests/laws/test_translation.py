"""Laws of translation: valid, idempotent, and a call comes home."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.tools import restore_calls
from strategies.requests import requests

MODELS = {
    "anthropic": ("claude-sonnet-4-5", "claude-opus-5", "claude-sonnet-5-5"),
    "gemini": ("gemini-2.5-flash", "gemini-3.8-flash"),
    "openai-chat": ("gpt-4o", "gpt-5.6-sol"),
    "openai-responses": ("gpt-4o", "gpt-5.6-sol"),
}


@pytest.mark.parametrize("target", MODELS)
def test_tools_and_settings_stay_valid_and_calls_come_home(target: str) -> None:
    @given(requests, st.sampled_from(MODELS[target]))
    def law(request: cw.Conversation, model: str) -> None:
        rendered = cw.render(request, target, model=model)
        problems = cw.check(rendered.payload, target, model=model)
        assert [str(one) for one in problems if one.level == "error"] == []
        again = cw.convert(rendered.payload, target, target, model=model)
        assert again.payload == rendered.payload
        sent = [tool.name for tool in cw.parse(rendered.payload, target).tools if is_tool(tool)]
        reply = cw.Conversation((cw.assistant([cw.ToolCall(name, {}, name) for name in sent]),))
        home = restore_calls(reply, request, rendered.tool_names).messages[0].calls
        assert [call.name for call in home] == [t.name for t in request.tools if is_tool(t)]

    law()


def is_tool(tool: object) -> bool:
    return isinstance(tool, cw.Tool)
