"""The Anthropic Messages request, as types: `POST /v1/messages`.

Rules of order, which types cannot express, are in `rules.py` and `turns.py`.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import field

from contextwright.wire.shapes import Shape

UNSIGNED = "not-signed-by-anthropic"
"""The signature, in our answers, of thinking that another provider's model did.

Clients take a block whose signature is empty for a broken one: they leave it out of the history, or
put its words among those of the answer.
"""

__all__ = ["AssistantBlock", "Block", "CustomTool", "Request", "UNSIGNED", "UserBlock"]


class CacheControl(Shape):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None
    scope: str | None = None  # Claude Code's


class Block(Shape):
    """Base of all content blocks, distinguished by `type`."""


class Cacheable(Block, kw_only=True):
    cache_control: CacheControl | None = None


class TextBlock(Cacheable, tag_field="type", tag="text"):
    text: str
    citations: list[dict[str, Any]] | None = None


class Base64Source(Shape, tag_field="type", tag="base64"):
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: str


class PdfSource(Shape, tag_field="type", tag="base64"):
    media_type: Literal["application/pdf"]
    data: str


class PlainTextSource(Shape, tag_field="type", tag="text"):
    media_type: Literal["text/plain"]
    data: str


class UrlSource(Shape, tag_field="type", tag="url"):
    url: str


class FileSource(Shape, tag_field="type", tag="file"):
    file_id: str


class ImageBlock(Cacheable, tag_field="type", tag="image"):
    source: Base64Source | UrlSource | FileSource
    transformations: dict[str, Any] | None = None


class ContentSource(Shape, tag_field="type", tag="content"):
    content: str | list[TextBlock | ImageBlock]


class CitationsConfig(Shape):
    enabled: bool | None = None


class DocumentBlock(Cacheable, tag_field="type", tag="document"):
    source: PdfSource | PlainTextSource | ContentSource | UrlSource | FileSource
    title: str | None = None
    context: str | None = None
    citations: CitationsConfig | None = None


class SearchResultBlock(Cacheable, tag_field="type", tag="search_result"):
    source: str
    title: str
    content: list[TextBlock]
    citations: CitationsConfig | None = None


class ToolReferenceBlock(Cacheable, tag_field="type", tag="tool_reference"):
    tool_name: str


class BrowserStateBlock(Cacheable, tag_field="type", tag="browser_state"):
    tabs: list[dict[str, Any]] | None = None
    changes: list[dict[str, Any]] | None = None
    active_tab_id: Any = None


ResultBlock: TypeAlias = (
    TextBlock
    | ImageBlock
    | DocumentBlock
    | SearchResultBlock
    | ToolReferenceBlock
    | BrowserStateBlock
)


class ToolResultBlock(Cacheable, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: str | list[ResultBlock] | None = None
    is_error: bool | None = None
    toolset_name: str | None = None


class ContainerUploadBlock(Cacheable, tag_field="type", tag="container_upload"):
    file_id: str


class ToolUseBlock(Cacheable, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]
    caller: dict[str, Any] | None = None
    toolset_name: str | None = None


class ThinkingBlock(Block, tag_field="type", tag="thinking"):
    thinking: str
    signature: str


class RedactedThinkingBlock(Block, tag_field="type", tag="redacted_thinking"):
    data: str


class ServerToolUseBlock(Cacheable, tag_field="type", tag="server_tool_use"):
    id: str
    name: Literal[
        "advisor",
        "bash_code_execution",
        "code_execution",
        "text_editor_code_execution",
        "tool_search_tool_bm25",
        "tool_search_tool_regex",
        "web_fetch",
        "web_search",
    ]
    input: dict[str, Any]
    caller: dict[str, Any] | None = None


class ServerResult(Cacheable):
    tool_use_id: str
    content: list[dict[str, Any]] | dict[str, Any]
    caller: dict[str, Any] | None = None


class WebSearchResult(ServerResult, tag_field="type", tag="web_search_tool_result"): ...


class WebFetchResult(ServerResult, tag_field="type", tag="web_fetch_tool_result"): ...


class CodeExecutionResult(ServerResult, tag_field="type", tag="code_execution_tool_result"): ...


class BashResult(ServerResult, tag_field="type", tag="bash_code_execution_tool_result"): ...


class EditorResult(
    ServerResult, tag_field="type", tag="text_editor_code_execution_tool_result"
): ...


class ToolSearchResult(ServerResult, tag_field="type", tag="tool_search_tool_result"): ...


class AdvisorResult(ServerResult, tag_field="type", tag="advisor_tool_result"): ...


class McpToolUse(Cacheable, tag_field="type", tag="mcp_tool_use"):
    id: str
    name: str
    server_name: str
    input: dict[str, Any]


class McpToolResult(Cacheable, tag_field="type", tag="mcp_tool_result"):
    tool_use_id: str
    content: str | list[TextBlock] | None = None
    is_error: bool | None = None


class CompactionBlock(Cacheable, tag_field="type", tag="compaction"):
    content: str | None = None
    signature: str | None = None
    encrypted_content: str | None = None
    tool_changes: list[dict[str, Any]] | None = None


class FallbackBlock(Cacheable, tag_field="type", tag="fallback"):
    model: str | None = None
    reason: Any = None
    before: Any = field(default=None, name="from")
    to: Any = None
    trigger: Any = None


class McpToolListing(Cacheable, tag_field="type", tag="mcp_tool_listing"):
    mcp_server_name: str
    tools: list[dict[str, Any]]


class ToolAddition(Cacheable, tag_field="type", tag="tool_addition"):
    tool: dict[str, Any]


class ToolRemoval(Cacheable, tag_field="type", tag="tool_removal"):
    tool: dict[str, Any]


UserBlock: TypeAlias = (
    TextBlock
    | ImageBlock
    | DocumentBlock
    | SearchResultBlock
    | ToolResultBlock
    | ContainerUploadBlock
    | CompactionBlock
)
AssistantBlock: TypeAlias = (
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ServerToolUseBlock
    | WebSearchResult
    | WebFetchResult
    | CodeExecutionResult
    | BashResult
    | EditorResult
    | ToolSearchResult
    | AdvisorResult
    | McpToolUse
    | McpToolResult
    | ContainerUploadBlock
    | CompactionBlock
    | FallbackBlock
    | McpToolListing
)


class UserMessage(Shape, tag_field="role", tag="user"):
    content: str | list[UserBlock]


class AssistantMessage(Shape, tag_field="role", tag="assistant"):
    content: str | list[AssistantBlock]


SystemBlock: TypeAlias = TextBlock | ToolAddition | ToolRemoval


class SystemMessage(Shape, tag_field="role", tag="system"):
    content: str | list[SystemBlock]
    clear_at: Any = None
    output_config: dict[str, Any] | None = None


class CustomTool(Shape):
    """A tool of the caller; types of hosted tools carry dates and change too often to list."""

    name: str
    input_schema: dict[str, Any]
    description: str | None = None
    type: Literal["custom"] | None = None
    strict: bool | None = None
    cache_control: CacheControl | None = None
    defer_loading: bool | None = None
    eager_input_streaming: bool | None = None
    input_examples: list[dict[str, Any]] | None = None
    allowed_callers: list[str] | None = None


class ToolChoice(Shape):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class ThinkingConfig(Shape):
    type: Literal["enabled", "disabled", "adaptive", "between_tools"]
    budget_tokens: int | None = None
    display: Literal["summarized", "omitted", "updates"] | None = None
    block_binding: dict[str, Any] | None = None


class Metadata(Shape):
    user_id: str | None = None


class Request(Shape):
    """The body; fields after `tools` are plain settings."""

    model: str
    max_tokens: int
    messages: list[UserMessage | AssistantMessage | SystemMessage]
    system: str | list[TextBlock] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: ToolChoice | None = None
    thinking: ThinkingConfig | None = None
    cache_control: CacheControl | None = None
    container: str | dict[str, Any] | None = None
    context_management: dict[str, Any] | None = None
    diagnostics: dict[str, Any] | None = None
    inference_geo: str | None = None
    mcp_servers: list[dict[str, Any]] | None = None
    metadata: Metadata | None = None
    output_config: dict[str, Any] | None = None
    output_format: dict[str, Any] | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
    speed: Literal["standard", "fast"] | None = None
    stop_sequences: list[str] | None = None
    stream: bool | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    user_profile_id: str | None = None
    workspace_id: str | None = None
    fallbacks: Any = None
    fallback_credit_token: Any = None
    billing_policy: dict[str, Any] | None = None
    compaction: dict[str, Any] | None = None
    thread: dict[str, Any] | None = None
    betas: list[str] | None = None
