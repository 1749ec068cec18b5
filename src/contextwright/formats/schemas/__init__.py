"""Schemas of tools and answers, as each API takes them.

Ours is plain JSON Schema. Gemini's `parameters` is a proto that knows a part of OpenAPI, which is
read; JSON Schema goes into a field beside it, and may not say all. OpenAI and Anthropic want tools
whose root is one plain object. Each function gives the schema and what of it could not be said,
for a `Change`; where nothing is lost the list is empty.
"""

from __future__ import annotations

from contextwright.formats.schemas.gemini import gemini_schema, json_schema
from contextwright.formats.schemas.objects import object_schema, output_schema

__all__ = ["gemini_schema", "json_schema", "object_schema", "output_schema"]
