"""The payloads, sent with the vendors' own clients to a server of ours that writes them down."""

import json
import threading
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import anthropic
import openai
import pydantic
import pytest
from google import genai

import contextwright as cw

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)
CONVERSATION = cw.Conversation(
    (
        cw.system("You are kind."),
        cw.user(["What is this?", cw.Media("image", "image/png", PNG)]),
        cw.assistant(
            ["Let me look.", cw.ToolCall("look", {"at": "it"}, "c1"), cw.ToolCall("look", {}, "c2")]
        ),
        cw.tool_result("c1", "a dot"),
        cw.tool_result("c2", {"seen": True}),
        cw.assistant("A dot."),
        cw.system("Be brief."),
        cw.user("Дякую 🙂"),
    ),
    (cw.Tool("look", "Looks.", {"type": "object", "properties": {"at": {"type": "string"}}}),),
    settings=cw.Settings(max_tokens=100),
)
CALL = {"city": "Kyiv"}

REPLIES: dict[str, dict[str, Any]] = {
    "/chat/completions": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.6-sol",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "Looking.",
                    "tool_calls": [
                        {
                            "id": "c9",
                            "type": "function",
                            "function": {"name": "weather", "arguments": '{"city":"Kyiv"}'},
                        }
                    ],
                },
            }
        ],
    },
    "/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5.6-sol",
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Looking.", "annotations": []}],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c9",
                "name": "weather",
                "arguments": '{"city":"Kyiv"}',
                "status": "completed",
            },
        ],
    },
    "/v1/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "c9", "name": "weather", "input": CALL},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    ":generateContent": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Looking."},
                        {"functionCall": {"id": "c9", "name": "weather", "args": CALL}},
                    ],
                },
                "finishReason": "STOP",
            }
        ],
    },
}


class Recorder(BaseHTTPRequestHandler):
    """Answers as a provider would, and keeps what it was sent."""

    bodies: list[dict[str, Any]]

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        path = self.path.partition("?")[0]
        reply = next(reply for ending, reply in REPLIES.items() if path.endswith(ending))
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A loopback server: its address, and the bodies it received."""
    bodies: list[dict[str, Any]] = []
    handler = type("Handler", (Recorder,), {"bodies": bodies})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", bodies
        server.shutdown()
        thread.join()


def call_chat(address: str, payload: dict[str, Any]) -> Any:
    with openai.OpenAI(base_url=address, api_key="none") as client:
        return client.chat.completions.create(**payload)


def call_responses(address: str, payload: dict[str, Any]) -> Any:
    with openai.OpenAI(base_url=address, api_key="none") as client:
        return client.responses.create(**payload)


def call_anthropic(address: str, payload: dict[str, Any]) -> Any:
    with anthropic.Anthropic(base_url=address, api_key="none") as client:
        return client.messages.create(**payload)


def call_gemini(address: str, payload: dict[str, Any]) -> Any:
    client = genai.Client(api_key="none", http_options={"base_url": address})
    config = {
        "system_instruction": payload.get("systemInstruction"),
        "tools": payload.get("tools"),
        **payload.get("generationConfig", {}),
    }
    try:
        return client.models.generate_content(
            model="gemini-3.8-flash", contents=payload["contents"], config=config
        )
    finally:
        client.close()


SENDERS = {
    "openai-chat": (call_chat, "gpt-5.6-sol"),
    "openai-responses": (call_responses, "gpt-5.6-sol"),
    "anthropic": (call_anthropic, "claude-opus-5"),
    "gemini": (call_gemini, "gemini-3.8-flash"),
}


@pytest.mark.parametrize("format", SENDERS)
def test_the_vendors_client_sends_what_we_rendered(
    format: str, provider: tuple[str, list[dict[str, Any]]]
) -> None:
    address, bodies = provider
    send, model = SENDERS[format]
    payload = cw.render(CONVERSATION, format, model=model).payload
    reply = cw.parse_reply(send(address, payload))
    sent = cw.parse(bodies[0], format)
    assert sent.messages == cw.parse(payload, format).messages
    assert sent.tools == cw.parse(payload, format).tools
    message = reply.messages[0]
    assert (message.role, message.text) == ("assistant", "Looking.")
    assert [(call.name, call.arguments, call.id) for call in message.calls] == [
        ("weather", CALL, "c9")
    ]


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic"])
def test_bodies_are_sent_byte_for_byte(
    format: str, provider: tuple[str, list[dict[str, Any]]]
) -> None:
    address, bodies = provider
    send, model = SENDERS[format]
    payload = cw.render(CONVERSATION, format, model=model).payload
    send(address, payload)
    assert bodies == [payload]


CASES = sorted((Path(__file__).parent / "cases").glob("*/anthropic.json"))


def drained(value: Any) -> Any:
    """Force the lazy iterators that pydantic makes of an SDK's `Iterable` fields."""
    if isinstance(value, dict):
        return {key: drained(item) for key, item in value.items()}
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        return value
    return [drained(item) for item in value]


@pytest.mark.parametrize(
    ("format", "params"),
    [
        ("anthropic", anthropic.types.message_create_params.MessageCreateParamsNonStreaming),
        (
            "openai-chat",
            openai.types.chat.completion_create_params.CompletionCreateParamsNonStreaming,
        ),
        (
            "openai-responses",
            openai.types.responses.response_create_params.ResponseCreateParamsNonStreaming,
        ),
    ],
)
@pytest.mark.parametrize("case", [case.parent for case in CASES], ids=lambda case: case.name)
def test_payloads_are_of_the_sdks_own_types(case: Path, format: str, params: Any) -> None:
    if (case.name, format) == ("refusal", "openai-responses"):
        pytest.skip("the type wants an item id that only the API can give; the API does not")
    payload = json.loads((case / f"{format}.json").read_text())["payload"]
    drained(adapter(params).validate_python(payload))


@cache
def adapter(params: Any) -> Any:
    return pydantic.TypeAdapter(params)


@pytest.mark.parametrize("case", [case.parent for case in CASES], ids=lambda case: case.name)
def test_contents_are_of_googles_own_types(case: Path) -> None:
    payload = json.loads((case / "gemini.json").read_text())["payload"]
    for content in payload["contents"]:
        genai.types.Content.model_validate_json(json.dumps(content))
    for tool in payload.get("tools", []):
        genai.types.Tool.model_validate_json(json.dumps(tool))
