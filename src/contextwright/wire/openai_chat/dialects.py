"""OpenAI's chat format on other hosts: what they accept in addition, and what instead.

Only OpenAI and Mistral refuse unknown fields; every other host ignores them or passes them on. A
field that was sent to a host before may be sent again.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from contextwright.errors import Problem
from contextwright.models import Model

__all__ = [
    "CLIENT_FIELD",
    "EXTRAS",
    "OPENAI",
    "ROUTED",
    "Dialect",
    "HostedRequest",
    "as_warning_if_known",
    "dialect_of",
    "is_routed_claude",
    "takes_cache_control",
]


class Dialect(Struct, frozen=True, kw_only=True):
    """How the host of a model reads the chat format."""

    name: str
    closed: bool = False
    """Whether fields outside OpenAI's own types are refused."""
    thinking: Literal["reasoning_content", "reasoning", "parts"] | None = "reasoning_content"
    """The field of an assistant message for its reasoning; None if there is none."""
    limit: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    """The setting that limits the answer."""
    forced: Literal["required", "any"] = "required"
    """The `tool_choice` that forces some call."""
    document: Literal["file", "document_url"] = "file"
    """The type of part for a document."""
    seed: Literal["seed", "random_seed"] = "seed"
    """The setting that makes answers repeat."""
    unknown: frozenset[str] = frozenset()
    """Settings of OpenAI that it refuses."""
    names: bool = True
    """Whether a message may name its speaker."""
    nine_letter_ids: bool = False
    """Whether call ids must be exactly nine letters or digits."""
    media: tuple[str, ...] = ("image", "audio", "video", "document")
    """The kinds of media that have a part."""


OPENAI = Dialect(
    name="openai",
    closed=True,
    thinking=None,
    limit="max_completion_tokens",
    media=("image", "audio", "document"),
)
COMPATIBLE = Dialect(name="compatible")
ROUTED = Dialect(name="routed", thinking="reasoning", limit="max_completion_tokens")
"""Routers such as OpenRouter, whose model names carry their maker: `mistralai/mistral-small`."""

BY_MAKER = {
    dialect.name: dialect
    for dialect in (
        OPENAI,
        Dialect(
            name="mistral",
            thinking="parts",
            forced="any",
            document="document_url",
            seed="random_seed",
            unknown=frozenset(
                "prompt_cache_options prompt_cache_retention safety_identifier service_tier "
                "store user verbosity".split()
            ),
            names=False,
            nine_letter_ids=True,
            media=("image", "audio", "document"),
        ),
        Dialect(name="gpt-oss", thinking="reasoning"),
    )
}


def dialect_of(model: Model) -> Dialect:
    """Return the dialect of the host that serves a model, as far as its name shows."""
    if "/" in model.id:
        return ROUTED
    return BY_MAKER.get(model.provider, COMPATIBLE)


def is_routed_claude(model: Model) -> bool:
    """Whether a model is Claude behind a router."""
    return dialect_of(model) is ROUTED and model.provider == "anthropic"


def takes_cache_control(format: str, model: Model) -> bool:
    """Whether a request marks its cache breakpoints with `cache_control`.

    Anthropic's own do, and those to Claude behind a router, which hands the marks on.
    """
    return format == "anthropic" or (format == "openai-chat" and is_routed_claude(model))


EXTRAS = frozenset(
    # Reasoning: DeepSeek, OpenRouter, Groq, Cerebras, Z.ai, Qwen, Ollama, LiteLLM.
    "reasoning reasoning_content reasoning_details reasoning_format include_reasoning "
    "disable_reasoning thinking thinking_blocks thinking_budget enable_thinking clear_thinking "
    "think chat_template_kwargs prompt_mode signature "
    # Routing: OpenRouter and other gateways.
    "provider models route transforms plugins usage session_id trace preset "
    "provider_specific_fields extra_content extra_body extra_headers fallbacks "
    # Sampling beyond OpenAI's.
    "top_k top_a min_p typical_p repetition_penalty random_seed length_penalty min_tokens "
    "ignore_eos skip_special_tokens best_of guided_json guided_regex guided_choice "
    "guided_grammar structured_outputs "
    # Search, safety and data of one host.
    "safe_prompt guardrails search_settings search_parameters documents citation_options "
    "include_domains exclude_domains compound_custom disable_tool_validation data_sources "
    "web_search request_id sensitive_word_check do_sample tool_stream "
    # Messages and parts: Mistral, Moonshot, Anthropic behind a router, vLLM, Qwen.
    "prefix partial cache_control images index document_name video_metadata min_pixels max_pixels "
    "fps uuid eager_input_streaming defer_loading allowed_callers input_examples "
    # Servers of open models: llama.cpp, vLLM, SGLang.
    "cache_prompt n_predict n_probs id_slot grammar mirostat mirostat_tau mirostat_eta samplers "
    "dynatemp_range dynatemp_exponent repeat_penalty repeat_last_n xtc_probability xtc_threshold "
    "dry_multiplier dry_base dry_allowed_length return_progress timings_per_token "
    "add_generation_prompt continue_final_message add_special_tokens chat_template echo priority "
    "include_stop_str_in_output spaces_between_special_tokens stop_token_ids bad_words "
    "allowed_token_ids truncate_prompt_tokens use_beam_search prompt_logprobs "
    "mm_processor_kwargs regex ebnf "
    # Search of Perplexity, xAI and Qwen.
    "search_domain_filter search_recency_filter search_mode return_images "
    "return_related_questions deferred enable_search search_options vl_high_resolution_images "
    # GitHub Copilot.
    "copilot_cache_control reasoning_opaque reasoning_text snippy intent "
    # Mistral's thinking.
    "closed "
    # Ollama.
    "keep_alive options format "
    # OpenAI's own fields in places where only other hosts accept them.
    "name tool_calls annotations refusal parameters strict audio id status".split()
)
"""Fields that some host is known to accept; any other gets a warning."""


CLIENT_FIELD = "provider_specific_fields"
"""What LiteLLM adds to the answers of every provider, and sends back in the history."""
IN_A_MESSAGE = re.compile(rf"messages\[\d+\]\.{CLIENT_FIELD}").fullmatch


def as_warning_if_known(problem: Problem) -> Problem:
    """Return the problem, as a warning if it is only about a field that a known client sends."""
    if problem.code == "T-extra" and IN_A_MESSAGE(problem.path):
        return Problem("T-extra", problem.path, "a field of LiteLLM", "warning")
    return problem


Content: TypeAlias = str | list[dict[str, Any] | str]


class HostedFunction(Struct):
    name: str
    arguments: str | dict[str, Any] = ""


class HostedCall(Struct):
    id: str | None = None
    function: HostedFunction | None = None


class HostedSystem(Struct, tag_field="role", tag="system"):
    content: Content


class HostedDeveloper(Struct, tag_field="role", tag="developer"):
    content: Content


class HostedUser(Struct, tag_field="role", tag="user"):
    content: Content


class HostedAssistant(Struct, tag_field="role", tag="assistant"):
    content: Content | None = None
    tool_calls: list[HostedCall] | None = None


class HostedTool(Struct, tag_field="role", tag="tool"):
    content: Content
    tool_call_id: str | None = None
    """Without it, the host pairs by `name` or by order."""


class HostedFunctionMessage(Struct, tag_field="role", tag="function"):
    name: str
    content: str | None


class HostedRequest(Struct):
    """The request that all hosts share: OpenAI's, open for more fields."""

    model: str
    messages: list[
        HostedSystem
        | HostedDeveloper
        | HostedUser
        | HostedAssistant
        | HostedTool
        | HostedFunctionMessage
    ]
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: str | list[str] | None = None
    stream: bool | None = None
