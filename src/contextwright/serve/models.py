"""The models that a gateway lists, each as OpenAI, Anthropic and Gemini describe one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as Path

from contextwright.models import Models, as_model
from contextwright.serve.calls import METHODS
from contextwright.serve.settings import ECHO

__all__ = ["known_models", "model_routes"]


def model_routes(endpoint: Callable[[Request], Awaitable[Response]]) -> list[Path]:
    """Return the paths that list models, and those that describe a `model`."""
    return [
        Path(f"{prefix}/models{rest}", endpoint)
        for prefix in ("/v1beta", "/v1", "")
        for rest in ("", "/", "/{model:path}")
    ]


def known_models(name: str | None) -> Response:
    """List the known models, where clients of each API look for them; or describe one.

    Some clients ask for the limits of a model before they begin.
    """
    if name is not None:
        return JSONResponse(description(name))
    listed = [description(name) for name in (ECHO, *(model.id for model in Models.shipped()))]
    return JSONResponse({"object": "list", "data": listed, "has_more": False, "models": listed})


def description(name: str) -> dict[str, Any]:
    """Return the facts about a model under the names of each API."""
    facts = as_model(name)
    return {
        "id": name,
        "object": "model",
        "type": "model",
        "display_name": name,
        "created": 0,
        "created_at": "1970-01-01T00:00:00Z",
        "owned_by": "contextwright",
        "name": f"models/{name}",
        "displayName": name,
        "inputTokenLimit": facts.max_input,
        **({"outputTokenLimit": facts.max_output} if facts.max_output else {}),
        "supportedGenerationMethods": list(METHODS),
    }
