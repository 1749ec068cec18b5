"""What clients of other hosts put into messages, translated to other APIs."""

from typing import Any

import contextwright as cw

SIGNED = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


def signed(model: str) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [{**CALL, **SIGNED}]},
        {"role": "tool", "tool_call_id": "a", "content": "Done"},
    ]
    return {"model": model, "messages": messages, "tools": TOOLS}


def test_a_signature_crosses_between_the_apis_of_gemini() -> None:
    """Its API for OpenAI's clients has it beside the call, as extra content."""
    body = signed("gemini-3.8-flash")
    there = cw.convert(body, "openai-chat", "gemini", model="gemini-3.8-flash")
    assert there.changes == ()
    [_, called, _] = there.payload["contents"]
    call = {"name": "f", "args": {}, "id": "a"}
    assert called["parts"] == [{"functionCall": call, "thoughtSignature": "c2ln"}]
    back = cw.convert(there.payload, "gemini", "openai-chat", model="gemini-3.8-flash")
    assert (back.payload, back.changes) == (body, ())


def test_a_signature_goes_to_nobody_else() -> None:
    body = signed("gemini-3.8-flash")
    made = cw.convert(body, "openai-chat", "openai-responses", model="gpt-5.6-sol")
    reason = "openai-responses has no place for extra_content"
    assert [change.reason for change in made.changes] == [reason]
    native = cw.convert(body, "openai-chat", "gemini", model="gemini-3.8-flash").payload
    for model in ("google/gemini-3.8-flash", "deepseek-chat"):  # routers have another field
        made = cw.convert(native, "gemini", "openai-chat", model=model)
        reason = "openai-chat has no place for thoughtSignature"
        assert [change.reason for change in made.changes] == [reason]


def test_a_placeholder_is_no_signature() -> None:
    unsigned = cw.Conversation(
        (cw.user("Hi"), cw.assistant(cw.ToolCall("f", {}, "a")), cw.tool_result("a", "Done"))
    )
    native = cw.render(unsigned, "gemini", model="gemini-3.8-flash").payload
    made = cw.convert(native, "gemini", "openai-chat", model="gemini-3.8-flash")
    assert made.payload["messages"][1]["tool_calls"] == [CALL]
    assert made.changes == ()


def test_a_system_prompt_that_shows_how_to_think() -> None:
    """Mistral's prompt for Magistral: others get its words."""
    shown = {"type": "thinking", "thinking": [{"type": "text", "text": "Draft."}], "closed": True}
    content = [{"type": "text", "text": "First"}, shown, {"type": "text", "text": "then answer."}]
    messages = [{"role": "system", "content": content}, {"role": "user", "content": "Hi"}]
    body = {"model": "magistral-medium-latest", "messages": messages}
    assert cw.check(body, "openai-chat") == []
    assert cw.convert(body, "openai-chat", "openai-chat").payload is body
    assert cw.render(cw.parse(body, "openai-chat"), "openai-chat").payload == body
    made = cw.convert(body, "openai-chat", "gemini", model="gemini-3.8-flash")
    words = [{"text": "First"}, {"text": "Draft."}, {"text": "then answer."}]
    assert made.payload["systemInstruction"]["parts"] == words
    assert [str(change) for change in made.changes] == [
        "loss.opaque messages[0].parts[1]: only openai-chat knows this block; its text stays"
    ]


def test_an_address_without_its_object_loses_nothing() -> None:
    parts = [
        {"type": "image_url", "image_url": "https://example.com/a.png"},
        {"type": "document_url", "document_url": "https://example.com/a.pdf"},
    ]
    messages = [{"role": "user", "content": parts}]
    body = {"model": "mistral-large-latest", "messages": messages, "max_tokens": 100}
    made = cw.convert(body, "openai-chat", "anthropic", model="claude-opus-4-6")
    assert made.changes == ()
    urls = [block["source"]["url"] for block in made.payload["messages"][0]["content"]]
    assert urls == ["https://example.com/a.png", "https://example.com/a.pdf"]
