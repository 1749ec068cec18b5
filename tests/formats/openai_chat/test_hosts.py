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


def test_mistral_gets_the_settings_it_knows() -> None:
    """It refuses a request with any field that it does not know."""
    asked = {
        "model": "gpt-5.6-sol",
        "input": [{"role": "user", "content": "Hi"}],
        "store": False,
        "user": "ada",
        "service_tier": "flex",
        "prompt_cache_key": "k",
        "safety_identifier": "s",
        "text": {"verbosity": "low"},
        "max_output_tokens": 100,
    }
    made = cw.convert(asked, "openai-responses", "openai-chat", model="mistral-large")
    assert made.payload == {
        "model": "mistral-large",
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 100,
        "prompt_cache_key": "k",
    }
    assert sorted(map(str, made.changes)) == [
        f"loss.setting {field}: mistral refuses this field"
        for field in ("safety_identifier", "service_tier", "user", "verbosity")
    ]
    seeded = {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {"seed": 7}}
    made = cw.convert(seeded, "gemini", "openai-chat", model="mistral-large")
    assert made.payload["random_seed"] == 7
    assert made.changes == ()
    back = cw.convert(made.payload, "openai-chat", "gemini", model="gemini-2.5-flash")
    assert back.payload["generationConfig"] == {"seed": 7}


def test_mistral_gets_speakers_in_the_text() -> None:
    """It knows names of tools only."""
    talk = [cw.user("Hi", author="Ada"), cw.assistant("Hello"), cw.user("Hey", author="Bob")]
    made = cw.render(talk, "openai-chat", model="mistral-large")
    assert made.payload["messages"] == [
        {"role": "user", "content": "Ada: Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Bob: Hey"},
    ]
    alone = cw.render(talk[:1], "openai-chat", model="mistral-large")
    assert alone.payload["messages"] == [{"role": "user", "content": "Hi"}]
    assert [change.code for change in alone.changes] == ["loss.author"]
    own = {"model": "mistral-large", "messages": [{"role": "user", "content": "Hi", "name": "Ada"}]}
    assert cw.convert(own, "openai-chat", "openai-chat", model="mistral-large").payload is own
