"""Asks twice with the vendor's own SDK: ADDRESS KEY FORMAT MODEL FIRST SECOND.

The first turn is not streamed, the second is.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
Turns = Iterable[tuple[str, bool]]
"""Questions, each with whether its answers are streamed."""


def chat(address: str, key: str, model: str, turns: Turns) -> Iterator[str]:
    import openai

    client = openai.OpenAI(base_url=f"{address}/v1", api_key=key)
    function = {"name": "print_word", "description": "Print a word.", "parameters": SCHEMA}
    messages: list[Any] = []
    for question, streams in turns:
        messages.append({"role": "user", "content": question})
        while True:
            given: Any = {
                "model": model,
                "messages": messages,
                "tools": [{"type": "function", "function": function}],
            }
            if streams:
                with client.chat.completions.stream(**given) as events:
                    message = events.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(**given).choices[0].message
            said = message.model_dump(exclude_none=True)
            messages.append(said)
            if not message.tool_calls:
                break
            for call in said["tool_calls"]:
                call.pop("index", None)  # a stream's, which OpenAI has refused in requests
            for call in message.tool_calls:
                word = json.loads(call.function.arguments)["word"]
                result = {"role": "tool", "tool_call_id": call.id, "content": f"42-{word}"}
                messages.append(result)
        yield message.content or ""


def responses(address: str, key: str, model: str, turns: Turns) -> Iterator[str]:
    import openai

    client = openai.OpenAI(base_url=f"{address}/v1", api_key=key)
    tool = {
        "type": "function",
        "name": "print_word",
        "description": "Print a word.",
        "parameters": SCHEMA,
        "strict": False,
    }
    items: list[Any] = []
    for question, streams in turns:
        items.append({"role": "user", "content": question})
        while True:
            given: Any = {"model": model, "input": items, "tools": [tool]}
            if streams:
                with client.responses.stream(**given) as events:
                    response = events.get_final_response()
            else:
                response = client.responses.create(**given)
            items += response.output
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            for call in calls:
                output = f"42-{json.loads(call.arguments)['word']}"
                items.append(
                    {"type": "function_call_output", "call_id": call.call_id, "output": output}
                )
        yield response.output_text


def messages_api(address: str, key: str, model: str, turns: Turns) -> Iterator[str]:
    import anthropic

    client = anthropic.Anthropic(base_url=address, api_key=key)
    tool = {"name": "print_word", "description": "Print a word.", "input_schema": SCHEMA}
    messages: list[Any] = []
    for question, streams in turns:
        messages.append({"role": "user", "content": question})
        while True:
            given: Any = {
                "model": model,
                "max_tokens": 4_000,
                "thinking": {"type": "adaptive"},
                "messages": messages,
                "tools": [tool],
            }
            if streams:
                with client.messages.stream(**given) as events:
                    message = events.get_final_message()
            else:
                message = client.messages.create(**given)
            messages.append({"role": "assistant", "content": message.content})
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                break
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": f"42-{call.input['word']}",
                }
                for call in calls
            ]
            messages.append({"role": "user", "content": results})
        yield "".join(block.text for block in message.content if block.type == "text")


def gemini(address: str, key: str, model: str, turns: Turns) -> Iterator[str]:
    from google import genai
    from google.genai import types

    def print_word(word: str) -> str:
        """Print a word."""
        return f"42-{word}"

    options = types.HttpOptions(base_url=address, retry_options=types.HttpRetryOptions(attempts=3))
    client = genai.Client(api_key=key, http_options=options)
    config = types.GenerateContentConfig(tools=[print_word])
    chat = client.chats.create(model=model, config=config)
    for question, streams in turns:
        if streams:
            yield "".join(chunk.text or "" for chunk in chat.send_message_stream(question))
        else:
            yield chat.send_message(question).text or ""


SDKS = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": messages_api,
    "gemini": gemini,
}


def main(address: str, key: str, format: str, model: str, first: str, second: str) -> None:
    for answer in SDKS[format](address, key, model, ((first, False), (second, True))):
        print(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
