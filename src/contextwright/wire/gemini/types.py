"""The Gemini request, as types: `POST …/models/{model}:generateContent`.

The types use camelCase; `camel_case` in `spelling` converts a body first, because the API
reads both spellings. Rules of order, which types cannot express, are in `rules.py`.
"""

from __future__ import annotations

import base64
from typing import Any, Literal

from contextwright.wire.shapes import Shape

__all__ = [
    "DATA_FIELDS",
    "Content",
    "FunctionDeclaration",
    "Part",
    "Proto",
    "Reply",
    "Request",
    "SystemContent",
    "Tool",
]

STAND_IN = base64.b64encode(b"skip_thought_signature_validator").decode()
"""Google's documented placeholder for calls that no Gemini model signed."""


class Proto(Shape, rename="camel"):
    """Base of all Gemini types: absent and null are the same, as in every proto."""


class Blob(Proto):
    data: str
    mime_type: str | None = None
    display_name: str | None = None


class FileData(Proto):
    file_uri: str
    mime_type: str | None = None
    display_name: str | None = None


class FunctionCall(Proto):
    name: str
    args: Any = None
    id: str | None = None
    partial_args: list[dict[str, Any]] | None = None
    will_continue: bool | None = None


class FunctionResponsePart(Proto):
    inline_data: Blob | None = None
    file_data: FileData | None = None
    media_processing: str | None = None


class FunctionResponse(Proto):
    name: str
    response: Any = None
    id: str | None = None
    parts: list[FunctionResponsePart] | None = None
    scheduling: str | None = None
    will_continue: bool | None = None


class ExecutableCode(Proto):
    code: str | None = None
    language: str | None = None
    id: str | None = None


class CodeExecutionResult(Proto):
    outcome: str | None = None
    output: str | None = None
    id: str | None = None


class ToolCall(Proto):
    """A hosted tool's call, made and answered by the API itself."""

    tool_type: str | None = None
    args: dict[str, Any] | None = None
    id: str | None = None


class ToolResponse(Proto):
    tool_type: str | None = None
    response: dict[str, Any] | None = None
    id: str | None = None


class VideoMetadata(Proto):
    start_offset: str | None = None
    end_offset: str | None = None
    fps: float | None = None


class PartMediaResolution(Proto):
    level: str | None = None
    num_tokens: int | None = None


class SpeechMetadata(Proto):
    speaker: str | None = None
    style: str | None = None


class Part(Proto):
    """One part: exactly one of `DATA_FIELDS`, and data about it."""

    text: str | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    executable_code: ExecutableCode | None = None
    code_execution_result: CodeExecutionResult | None = None
    tool_call: ToolCall | None = None
    tool_response: ToolResponse | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    video_metadata: VideoMetadata | None = None
    media_resolution: PartMediaResolution | None = None
    media_processing: str | None = None
    part_metadata: dict[str, Any] | None = None
    audio_transcription: dict[str, Any] | None = None
    speech_metadata: SpeechMetadata | None = None


DATA_FIELDS = (
    "text",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
"""The fields of a part of which exactly one is set."""


class Content(Proto):
    """One turn, or a piece of one."""

    parts: list[Part] | None = None
    role: Literal["user", "model"] | None = None
    """Default: the user."""


class SystemContent(Proto):
    """The system instruction: a content of texts."""

    parts: list[Part] | None = None
    role: str | None = None
    """Ignored by the API."""


class FunctionDeclaration(Proto):
    """A function the model may call."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    """A Schema proto, not JSON Schema: rule G-schema."""
    parameters_json_schema: Any = None
    response: dict[str, Any] | None = None
    response_json_schema: Any = None
    behavior: str | None = None


class Tool(Proto):
    """Functions, or a hosted tool; settings of hosted tools change too often to list."""

    function_declarations: list[FunctionDeclaration] | None = None
    code_execution: dict[str, Any] | None = None
    computer_use: dict[str, Any] | None = None
    enterprise_web_search: dict[str, Any] | None = None
    exa_ai_search: dict[str, Any] | None = None
    file_search: dict[str, Any] | None = None
    google_maps: dict[str, Any] | None = None
    google_search: dict[str, Any] | None = None
    google_search_retrieval: dict[str, Any] | None = None
    mcp_servers: list[dict[str, Any]] | None = None
    parallel_ai_search: dict[str, Any] | None = None
    retrieval: dict[str, Any] | None = None
    url_context: dict[str, Any] | None = None


class FunctionCallingConfig(Proto):
    mode: str | None = None
    allowed_function_names: list[str] | None = None
    stream_function_call_arguments: bool | None = None


class ToolConfig(Proto):
    function_calling_config: FunctionCallingConfig | None = None
    retrieval_config: dict[str, Any] | None = None
    include_server_side_tool_invocations: bool | None = None


class ThinkingConfig(Proto):
    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: str | None = None


class GenerationConfig(Proto):
    audio_timestamp: bool | None = None
    audio_transcription_config: dict[str, Any] | None = None
    candidate_count: int | None = None
    enable_affective_dialog: bool | None = None
    enable_enhanced_civic_answers: bool | None = None
    frequency_penalty: float | None = None
    image_config: dict[str, Any] | None = None
    logprobs: int | None = None
    max_output_tokens: int | None = None
    media_resolution: str | None = None
    model_config: dict[str, Any] | None = None
    model_selection_config: dict[str, Any] | None = None
    presence_penalty: float | None = None
    response_format: list[dict[str, Any]] | None = None
    response_json_schema: Any = None
    response_logprobs: bool | None = None
    response_mime_type: str | None = None
    response_modalities: list[str] | None = None
    response_schema: dict[str, Any] | None = None
    routing_config: dict[str, Any] | None = None
    seed: int | None = None
    speech_config: dict[str, Any] | None = None
    stop_sequences: list[str] | None = None
    temperature: float | None = None
    thinking_config: ThinkingConfig | None = None
    top_k: float | None = None
    top_p: float | None = None
    translation_config: dict[str, Any] | None = None


class SafetySetting(Proto):
    category: str | None = None
    threshold: str | None = None
    method: str | None = None


class Request(Proto):
    """The body. The model's name is in the URL; the field is for batches."""

    contents: list[Content] | None = None
    system_instruction: SystemContent | str | None = None
    """Never a string; rule G-system reports that more clearly."""
    tools: list[Tool] | None = None
    """A single tool need not be in a list."""
    tool_config: ToolConfig | None = None
    generation_config: GenerationConfig | None = None
    safety_settings: list[SafetySetting] | None = None
    cached_content: str | None = None
    labels: dict[str, str] | None = None
    model: str | None = None
    service_tier: str | None = None
    store: bool | None = None
    continuation_token: str | None = None
    model_armor_config: dict[str, Any] | None = None
    output_config: dict[str, Any] | None = None


class Candidate(Proto):
    """One answer of a reply."""

    content: Content | None = None
    finish_reason: str | None = None


class Reply(Proto):
    """The fields of a reply that we read; the API may add others at any time."""

    candidates: list[Candidate] | None = None
    prompt_feedback: dict[str, Any] | None = None
    usage_metadata: dict[str, Any] | None = None
    model_version: str | None = None
    response_id: str | None = None
