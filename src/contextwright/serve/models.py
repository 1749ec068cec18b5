"""The models that a gateway lists, each as OpenAI, Anthropic and Gemini describe one."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as Path

from contextwright.models import Models, as_model
from contextwright.serve.calls import METHODS
from contextwright.serve.settings import ECHO

__all__ = ["model_routes"]


def model_routes() -> list[Path]:
    """Return the paths that list models, and describe one."""
    return [
        path
        for prefix in ("/v1beta", "/v1", "")
        for path in (
            Path(f"{prefix}/models", list_models),
            Path(f"{prefix}/models/", list_models),
            Path(f"{prefix}/models/{{model:path}}", describe_model),
        )
    ]


async def list_models(_: Request) -> Response:
    """List the known models, where clients of each API look for them."""
    listed = [description(name) for name in (ECHO, *(model.id for model in Models.shipped()))]
    return JSONResponse({"object": "list", "data": listed, "has_more": False, "models": listed})


async def describe_model(request: Request) -> Response:
    """Describe a model by its name: some clients ask for its limits before they begin."""
    return JSONResponse(description(request.path_params["model"]))


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
