"""Bodies of Gemini's API."""

from __future__ import annotations

from typing import Any

from strategies.bodies.pen import PROTO, Body, Pen, schema
from strategies.messages import PNG

GENERATION: dict[str, Any] = {
    "maxOutputTokens": (100, 5_000, 0, -1, 2_000_000),
    "temperature": (0.5, 1.5),
    "topP": (0.9,),
    "topK": (3,),
    "seed": (7,),
    "presencePenalty": (0.1,),
    "frequencyPenalty": (0.2,),
    "candidateCount": (1, 2),
    "stopSequences": (["END"],),
    "responseLogprobs": (True,),
    "mediaResolution": ("MEDIA_RESOLUTION_LOW",),
    "thinkingConfig": (
        {"thinkingBudget": 2_000},
        {"thinkingBudget": -1, "includeThoughts": True},
        {"thinkingLevel": "low"},
        {"includeThoughts": False},
    ),
    "responseMimeType": ("application/json", "text/plain"),
    "responseJsonSchema": (schema,),
    "responseSchema": (PROTO,),
    "responseModalities": (["TEXT"],),
}


GEMINI_SETTINGS: dict[str, Any] = {
    "toolConfig": (
        {"functionCallingConfig": {"mode": "AUTO"}},
        {"functionCallingConfig": {"mode": "ANY"}},
        {"functionCallingConfig": {"mode": "NONE"}},
        {"functionCallingConfig": {"mode": "VALIDATED"}},
        lambda pen: {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": names(pen)}},
        lambda pen: {"retrievalConfig": {"languageCode": pen.words("uk")}},
    ),
    "safetySettings": ([{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],),
    "labels": (lambda pen: {"team": pen.words("team")},),
    "serviceTier": ("standard", "flex"),
    "store": (True, False),
}


def names(pen: Pen) -> list[str]:
    return [name for name, _, _ in pen.tools]


def gemini_body(pen: Pen) -> Body:
    tools = [gemini_group(pen) for _ in range(pen.one(0, 0, 1, 2))]
    contents: list[Body] = []
    for _ in range(pen.one(1, 1, 2, 3)):
        contents.extend(gemini_turn(pen))
    body: Body = {"contents": pen.later(contents)}
    if pen.chance(8):
        return {**body, "cachedContent": "cachedContents/1", **pen.extra()}
    if pen.chance(2):
        body["systemInstruction"] = {"parts": [{"text": pen.words("System")}]}
    if tools:
        body["tools"] = tools
    if pen.chance(2):
        body["generationConfig"] = pen.some(GENERATION)
    return {**body, **pen.some(GEMINI_SETTINGS, 2), **pen.extra()}


def gemini_group(pen: Pen) -> Body:
    if pen.chance(3):
        return pen.one(
            {"googleSearch": {}},
            {"codeExecution": {}},
            {"urlContext": {}},
            {"googleMaps": {"enableWidget": True}},
        )
    return {"functionDeclarations": [gemini_function(pen) for _ in range(pen.one(1, 2))]}


def gemini_function(pen: Pen) -> Body:
    name = pen.name(pen.one("tool", "tool.v"))
    pen.tools.append((name, None, "function"))
    function: Body = {"name": name, "description": pen.words("Tool")}
    parameters = pen.one({}, {"parameters": PROTO}, {"parametersJsonSchema": schema(pen)})
    if pen.chance(5):
        function["behavior"] = "NON_BLOCKING"
    return {**function, **parameters}


def gemini_turn(pen: Pen) -> list[Body]:
    turn: list[Body] = [{"role": "user", "parts": gemini_parts(pen)}]
    if pen.chance(2):
        calls = [
            {"name": pen.called()[0], "args": {"q": pen.words("x")}} for _ in range(pen.one(1, 2))
        ]
        ids = [{"id": pen.id()} if pen.chance(2) else {} for _ in calls]
        signed = {"thoughtSignature": "c2lnbmVk"} if pen.chance(2) else {}
        made: list[Body] = [
            {"functionCall": {**call, **id}} for call, id in zip(calls, ids, strict=True)
        ]
        made[0] |= signed
        turn.append({"role": "model", "parts": [*gemini_thought(pen), *made]})
        output = {"output": pen.words("Result")}
        responses = [
            {
                "functionResponse": {
                    "name": call["name"],
                    "response": pen.one(output, {"error": pen.words("Failed")}, {"a": 1}),
                    **id,
                }
            }
            for call, id in zip(calls, ids, strict=True)
        ]
        turn.append({"role": "user", "parts": responses})
    if pen.chance(2):
        said: list[Body] = [*gemini_thought(pen), {"text": pen.words("Answer")}]
        if pen.chance(4):
            said.append({"executableCode": {"language": "PYTHON", "code": pen.words("1 +")}})
            ran = {"outcome": "OUTCOME_OK", "output": pen.words("2")}
            said.append({"codeExecutionResult": ran})
        turn.append({"role": "model", "parts": said})
        turn.append({"role": "user", "parts": [{"text": pen.words("And")}]})
    return turn


def gemini_thought(pen: Pen) -> list[Body]:
    return [{"text": pen.words("Hm"), "thought": True}] if pen.chance(4) else []


def gemini_parts(pen: Pen) -> list[Body]:
    parts: list[Body] = [{"text": pen.words("Question")}]
    if pen.chance(3):
        parts.append({"inlineData": {"mimeType": "image/png", "data": PNG}})
    if pen.chance(5):
        parts.append({"fileData": {"mimeType": "video/mp4", "fileUri": "https://x.org/v.mp4"}})
        parts[-1]["videoMetadata"] = {"startOffset": "1s"}
    if pen.chance(5):
        uri = "https://generativelanguage.googleapis.com/v1beta/files/" + pen.name("f")
        parts.append({"fileData": {"mimeType": "application/pdf", "fileUri": uri}})
    return parts
