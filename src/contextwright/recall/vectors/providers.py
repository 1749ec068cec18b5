"""Embedders of providers: a client of yours, and the name of a model.

Their packages are not imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextwright.errors import require
from contextwright.recall.vectors.embedder import Embedder

__all__ = ["gemini_embedder", "openai_embedder"]


def openai_embedder(client: Any, model: str, *, dimensions: int | None = None) -> Embedder:
    """Return an embedder for an `OpenAI` client or a compatible one."""
    options = {} if dimensions is None else {"dimensions": dimensions}

    def embed(texts: Sequence[str]) -> list[Any]:
        answer = client.embeddings.create(model=model, input=[*texts], **options)
        return [one.embedding for one in sorted(answer.data, key=lambda one: one.index)]

    return Embedder(vectors_name(model, dimensions), embed, batch=128)


def gemini_embedder(client: Any, model: str, *, dimensions: int | None = None) -> Embedder:
    """Return an embedder for a `google.genai.Client`."""
    config = None if dimensions is None else {"output_dimensionality": dimensions}

    def embed(texts: Sequence[str]) -> list[Any]:
        # Some models take plain strings as parts of one content, and return one vector for all.
        contents = [{"parts": [{"text": text}]} for text in texts]
        answer = client.models.embed_content(model=model, contents=contents, config=config)
        return [one.values for one in answer.embeddings or ()]

    return Embedder(vectors_name(model, dimensions), embed, batch=100)


def vectors_name(model: str, dimensions: int | None) -> str:
    """Return the name that the vectors are stored under."""
    require(dimensions, int | None, "dimensions")
    return model if dimensions is None else f"{model}-{dimensions}"
