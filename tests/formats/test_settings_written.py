"""Every setting, as each family of models gets it: the whole of what is asked, and every change."""

import json
from typing import Any

import msgspec

import contextwright as cw
from contextwright.messages import OutputFormat, ToolChoice
from golden_files import compare

MODELS = {
    "anthropic": ["claude-opus-5", "claude-sonnet-5-5", "claude-sonnet-4-5", "claude-3-haiku"],
    "gemini": ["gemini-3.8-flash", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.0-flash"],
    "openai-chat": ["gpt-5.6-sol", "gpt-4o", "o3", "mistral-large", "deepseek-v4-flash"],
    "openai-responses": ["gpt-5.6-sol", "gpt-4o"],
}
OPEN = {"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}}
ITSELF = {"type": "object", "properties": {"a": {"$ref": "#"}}}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
SETTINGS = [
    *(cw.Settings(effort=effort) for effort in EFFORTS),
    *(cw.Settings(thinking_budget=tokens) for tokens in (-1, 0, 1_000, 100_000)),
    *(cw.Settings(show_thinking=shown) for shown in (True, False)),
    cw.Settings(effort="low", show_thinking=True, thinking_budget=3_000),
    cw.Settings(max_tokens=1),
    cw.Settings(temperature=2.0, top_p=0.5, top_k=3, seed=1),
    cw.Settings(presence_penalty=0.5, frequency_penalty=0.5),
    *(cw.Settings(stop=tuple("abcdef"[:count])) for count in (4, 5, 6)),
    *(cw.Settings(tool_choice=ToolChoice(mode)) for mode in ("auto", "none", "required")),
    cw.Settings(tool_choice=ToolChoice("required", "f")),
    cw.Settings(tool_choice=ToolChoice("required", "missing")),
    *(cw.Settings(tool_choice=ToolChoice(mode, None, ("f",))) for mode in ("auto", "required")),
    cw.Settings(tool_choice=ToolChoice("auto", None, ("f", "missing"))),
    cw.Settings(tool_choice=ToolChoice("required"), effort="high"),
    *(cw.Settings(parallel_calls=several) for several in (True, False)),
    cw.Settings(output=OutputFormat()),
    cw.Settings(output=OutputFormat(OPEN, "name", "description", True)),
    cw.Settings(output=OutputFormat(ITSELF)),
    cw.Settings(verbosity="low", cache_key="k", service_tier="flex", store=False),
    cw.Settings(user="u", metadata={"a": "b"}, stream=True, store=True),
]


def test_every_setting_of_every_family() -> None:
    tools = (cw.Tool("f", "d", {"type": "object"}), cw.Tool("g", "d", {"type": "object"}))
    lines: list[str] = []
    for format, models in MODELS.items():
        for model in models:
            lines += [f"== {format} {model}"]
            for settings in SETTINGS:
                said = (cw.user("Answer in JSON."),)
                conversation = cw.Conversation(said, tools, settings=settings)
                rendered = cw.render(conversation, format, model=model)
                errors = cw.check(rendered.payload, format, model=model)
                assert [one for one in errors if one.level == "error"] == [], settings
                lines += [msgspec.json.encode(settings).decode(), f"  {asked(rendered.payload)}"]
                lines += [f"  {change}" for change in rendered.changes]
    compare("settings", "\n".join(lines))


def asked(payload: dict[str, Any]) -> str:
    """What a payload holds beside its messages and tools."""
    frame = ("model", "messages", "contents", "input", "tools")
    return json.dumps({key: value for key, value in payload.items() if key not in frame})
