"""Contents of Gemini's requests."""

from __future__ import annotations

import json
from typing import Any

import contextwright as cw
from gemini_sdk import types

OLD, NEW = "gemini-2.5-flash", "gemini-3.8-flash"


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def call(
    name: str, id: str | None = None, signature: str | None = "c2ln", **args: Any
) -> dict[str, Any]:
    function = {"name": name, "args": args, **({"id": id} if id else {})}
    return {"functionCall": function, **({"thoughtSignature": signature} if signature else {})}


def answer(name: str, response: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "functionResponse": {
            "name": name,
            "response": response,
            **({"id": id} if id else {}),
            **more,
        }
    }


def validate(body: dict[str, Any]) -> None:
    """Google's own types take it: unknown keys are refused, base64 is decoded."""
    for content in body["contents"]:
        types.Content.model_validate_json(json.dumps(content))
    for tool in body.get("tools", ()):
        types.Tool.model_validate_json(json.dumps(tool))
    if "systemInstruction" in body:
        types.Content.model_validate_json(json.dumps(body["systemInstruction"]))
    types.GenerationConfig.model_validate_json(json.dumps(body.get("generationConfig", {})))
    types.ToolConfig.model_validate_json(json.dumps(body.get("toolConfig", {})))


# --- from elsewhere --------------------------------------------------------------------------


def rendered(conversation: cw.Conversation, asked: str) -> tuple[Any, list[str]]:
    made = cw.render(conversation, "gemini", model=asked)
    return made.payload, [str(change.code) for change in made.changes]
