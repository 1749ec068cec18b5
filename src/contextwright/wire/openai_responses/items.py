"""The items of a Responses `input`, as types: messages by `role`, all others by `type`.

Fields that the SDK's types require but the API accepts without are optional here.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import field

from contextwright.wire.openai_responses.tools import Tool
from contextwright.wire.shapes import Shape

__all__ = ["Item", "Message"]

Status: TypeAlias = Literal["in_progress", "completed", "incomplete"] | None
Caller: TypeAlias = dict[str, Any] | None


class CacheBreakpoint(Shape):
    mode: Literal["explicit"]
    ttl: Literal["30m", "12h"] | None = None


class InputPart(Shape, kw_only=True):
    prompt_cache_breakpoint: CacheBreakpoint | None = None


class InputText(InputPart, tag_field="type", tag="input_text"):
    text: str


class InputImage(InputPart, tag_field="type", tag="input_image"):
    image_url: str | None = None
    file_id: str | None = None
    detail: Literal["low", "high", "auto", "original"] | None = None


class InputFile(InputPart, tag_field="type", tag="input_file"):
    file_data: str | None = None
    file_id: str | None = None
    file_url: str | None = None
    filename: str | None = None
    detail: Literal["auto", "low", "high"] | None = None


class OutputText(Shape, tag_field="type", tag="output_text"):
    text: str
    annotations: list[dict[str, Any]] | None = None
    logprobs: list[dict[str, Any]] | None = None


class Refusal(Shape, tag_field="type", tag="refusal"):
    refusal: str


InputContent: TypeAlias = str | list[InputText | InputImage | InputFile]


class ItemShape(Shape, kw_only=True):
    internal_chat_message_metadata_passthrough: dict[str, Any] | None = None
    """Codex sends it with items of any kind; no documentation names it."""


class MessageItem(ItemShape, kw_only=True):
    type: Literal["message"] | None = None
    id: str | None = None
    status: Status = None
    phase: Literal["commentary", "final_answer"] | None = None


class UserMessage(MessageItem, tag_field="role", tag="user"):
    content: InputContent


class SystemMessage(MessageItem, tag_field="role", tag="system"):
    content: InputContent


class DeveloperMessage(MessageItem, tag_field="role", tag="developer"):
    content: InputContent


class AssistantMessage(MessageItem, tag_field="role", tag="assistant"):
    content: str | list[OutputText | Refusal]


Message: TypeAlias = UserMessage | SystemMessage | DeveloperMessage | AssistantMessage


class CallItem(ItemShape, kw_only=True):
    id: str | None = None
    status: Status = None
    caller: Caller = None


class FunctionCall(CallItem, tag_field="type", tag="function_call"):
    call_id: str
    name: str
    arguments: str
    namespace: str | None = None
    runs_async: bool | None = field(name="async", default=None)


class FunctionCallOutput(CallItem, tag_field="type", tag="function_call_output"):
    output: InputContent
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None


class CustomToolCall(CallItem, tag_field="type", tag="custom_tool_call"):
    call_id: str
    name: str
    input: str
    namespace: str | None = None
    runs_async: bool | None = field(name="async", default=None)


class CustomToolCallOutput(CallItem, tag_field="type", tag="custom_tool_call_output"):
    call_id: str
    output: InputContent


class SummaryText(Shape, tag_field="type", tag="summary_text"):
    text: str


class ReasoningText(Shape, tag_field="type", tag="reasoning_text"):
    text: str


class Reasoning(ItemShape, tag_field="type", tag="reasoning"):
    summary: list[SummaryText]
    id: str | None = None
    content: list[ReasoningText] | None = None
    encrypted_content: str | None = None
    status: Status = None


class Compaction(ItemShape, tag_field="type", tag="compaction"):
    encrypted_content: str
    id: str | None = None


class CompactionTrigger(ItemShape, tag_field="type", tag="compaction_trigger"):
    id: str | None = None


class ItemReference(ItemShape, tag_field="type", tag="item_reference"):
    id: str


class AdditionalTools(ItemShape, tag_field="type", tag="additional_tools"):
    role: Literal["developer"]
    tools: list[Tool]
    id: str | None = None


class ConfigurationUpdate(ItemShape, tag_field="type", tag="configuration_update"):
    id: str | None = None
    reasoning: dict[str, Any] | None = None
    text: dict[str, Any] | None = None


class ToolSearchCall(ItemShape, tag_field="type", tag="tool_search_call"):
    arguments: Any
    id: str | None = None
    call_id: str | None = None
    execution: Literal["server", "client"] | None = None
    status: Status = None


class ToolSearchOutput(ItemShape, tag_field="type", tag="tool_search_output"):
    tools: list[Tool]
    id: str | None = None
    call_id: str | None = None
    execution: Literal["server", "client"] | None = None
    status: Status = None


class FileSearchCall(ItemShape, tag_field="type", tag="file_search_call"):
    queries: list[str]
    status: Literal["in_progress", "searching", "completed", "incomplete", "failed"]
    id: str | None = None
    results: list[dict[str, Any]] | None = None


class WebSearchCall(ItemShape, tag_field="type", tag="web_search_call"):
    id: str | None = None
    action: dict[str, Any] | None = None
    status: Literal["in_progress", "searching", "completed", "failed", "incomplete"] | None = None


class CodeInterpreterCall(ItemShape, tag_field="type", tag="code_interpreter_call"):
    id: str
    container_id: str
    status: Literal["in_progress", "completed", "incomplete", "interpreting", "failed"]
    code: str | None
    outputs: list[dict[str, Any]] | None = None


class ComputerCall(ItemShape, tag_field="type", tag="computer_call"):
    id: str
    call_id: str
    pending_safety_checks: list[dict[str, Any]]
    status: Literal["in_progress", "completed", "incomplete"]
    action: dict[str, Any] | None = None
    actions: list[dict[str, Any]] | None = None


class ComputerCallOutput(ItemShape, tag_field="type", tag="computer_call_output"):
    call_id: str
    output: dict[str, Any]
    id: str | None = None
    acknowledged_safety_checks: list[dict[str, Any]] | None = None
    status: Status = None


class ImageGenerationCall(ItemShape, tag_field="type", tag="image_generation_call"):
    id: str
    status: Literal["in_progress", "completed", "generating", "failed"] | None = None
    result: str | None = None
    action: Literal["generate", "edit", "auto"] | None = None
    background: Literal["transparent", "opaque", "auto"] | None = None
    error: dict[str, Any] | None = None
    output_format: Literal["png", "webp", "jpeg", "gif", "svg"] | None = None
    quality: Literal["low", "medium", "high", "xhigh", "max", "auto"] | None = None
    revised_prompt: str | None = None
    size: str | None = None
    svg_usage: dict[str, Any] | None = None


class LocalShellCall(ItemShape, tag_field="type", tag="local_shell_call"):
    action: dict[str, Any]
    call_id: str
    status: Literal["in_progress", "completed", "incomplete"]
    id: str | None = None


class LocalShellCallOutput(ItemShape, tag_field="type", tag="local_shell_call_output"):
    output: str
    id: str | None = None
    call_id: str | None = None
    status: Status = None


class ShellCall(CallItem, tag_field="type", tag="shell_call"):
    action: dict[str, Any]
    call_id: str
    environment: dict[str, Any] | None = None


class ShellCallOutput(CallItem, tag_field="type", tag="shell_call_output"):
    call_id: str
    output: list[dict[str, Any]]
    max_output_length: int | None = None


class ApplyPatchCall(ItemShape, tag_field="type", tag="apply_patch_call"):
    call_id: str
    operation: dict[str, Any]
    status: Literal["in_progress", "completed"]
    id: str | None = None
    caller: Caller = None


class ApplyPatchCallOutput(ItemShape, tag_field="type", tag="apply_patch_call_output"):
    call_id: str
    status: Literal["completed", "failed"]
    id: str | None = None
    caller: Caller = None
    output: str | None = None


class McpListTools(ItemShape, tag_field="type", tag="mcp_list_tools"):
    id: str
    server_label: str
    tools: list[dict[str, Any]]
    error: Any = None


class McpApprovalRequest(ItemShape, tag_field="type", tag="mcp_approval_request"):
    id: str
    arguments: str
    name: str
    server_label: str


class McpApprovalResponse(ItemShape, tag_field="type", tag="mcp_approval_response"):
    approval_request_id: str
    approve: bool
    id: str | None = None
    reason: str | None = None


class McpCall(ItemShape, tag_field="type", tag="mcp_call"):
    id: str
    arguments: str
    name: str
    server_label: str
    approval_request_id: str | None = None
    error: Any = None
    output: str | None = None
    status: Literal["in_progress", "completed", "incomplete", "calling", "failed"] | None = None


class Program(ItemShape, tag_field="type", tag="program"):
    id: str
    call_id: str
    code: str
    fingerprint: str


class ProgramOutput(ItemShape, tag_field="type", tag="program_output"):
    id: str
    call_id: str
    result: str
    status: Literal["completed", "incomplete"]


Item: TypeAlias = (
    FunctionCall
    | FunctionCallOutput
    | CustomToolCall
    | CustomToolCallOutput
    | Reasoning
    | Compaction
    | CompactionTrigger
    | ItemReference
    | AdditionalTools
    | ConfigurationUpdate
    | ToolSearchCall
    | ToolSearchOutput
    | FileSearchCall
    | WebSearchCall
    | CodeInterpreterCall
    | ComputerCall
    | ComputerCallOutput
    | ImageGenerationCall
    | LocalShellCall
    | LocalShellCallOutput
    | ShellCall
    | ShellCallOutput
    | ApplyPatchCall
    | ApplyPatchCallOutput
    | McpListTools
    | McpApprovalRequest
    | McpApprovalResponse
    | McpCall
    | Program
    | ProgramOutput
)
