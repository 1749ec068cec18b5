"""JSON Schemas of tools and answers, as each API accepts them.

Ours is plain JSON Schema. Gemini's `parameters` is a proto with a subset of OpenAPI, which is only
read; JSON Schema goes into another field, with some limits. OpenAI and Anthropic require a plain
object at the root of a tool's schema. Each function returns the schema and a list of the keywords
it lost, for a `Change`.
"""

from __future__ import annotations

from contextwright.formats.schemas.gemini import gemini_schema, json_schema
from contextwright.formats.schemas.nodes import COMBINERS
from contextwright.formats.schemas.objects import object_schema, output_schema
from contextwright.formats.schemas.valid import valid_schema

__all__ = [
    "COMBINERS",
    "gemini_schema",
    "json_schema",
    "object_schema",
    "output_schema",
    "valid_schema",
]
