"""One legal request per provider with what only that provider has: signed thinking, hosted tools,
custom tools, citations, refusals, signatures on calls."""

from typing import Any

from strategies.messages import PNG

PAYLOADS: dict[str, dict[str, Any]] = {
    "anthropic": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "document",
                        "source": {
                            "type": "text",
                            "media_type": "text/plain",
                            "data": "The grass is green.",
                        },
                        "title": "Colours",
                        "citations": {"enabled": True},
                    },
                    {
                        "type": "text",
                        "text": "What colour is grass?",
                        "cache_control": {"type": "ephemeral"},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "I shall look.", "signature": "c2lnbmVk"},
                    {
                        "type": "server_tool_use",
                        "id": "srvtoolu_1",
                        "name": "web_search",
                        "input": {"query": "grass"},
                    },
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "srvtoolu_1",
                        "content": [
                            {
                                "type": "web_search_result",
                                "url": "https://example.com",
                                "title": "Grass",
                                "encrypted_content": "abc",
                                "page_age": "1 day",
                            }
                        ],
                    },
                    {
                        "type": "text",
                        "text": "Green.",
                        "citations": [
                            {
                                "type": "char_location",
                                "cited_text": "The grass is green.",
                                "document_index": 0,
                                "document_title": "Colours",
                                "start_char_index": 0,
                                "end_char_index": 19,
                            }
                        ],
                    },
                ],
            },
            {"role": "user", "content": "And in winter?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "redacted_thinking", "data": "c2VjcmV0"},
                    {"type": "tool_use", "id": "toolu_w", "name": "weather", "input": {"m": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_w",
                        "content": [
                            {"type": "text", "text": "snow"},
                            {
                                "type": "image",
                                "source": {
                                    "type": "base64",
                                    "media_type": "image/png",
                                    "data": PNG,
                                },
                            },
                        ],
                        "is_error": False,
                    }
                ],
            },
        ],
    },
    "gemini": {
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "Is it prime?"},
                    {
                        "fileData": {
                            "fileUri": "https://example.com/a.pdf",
                            "mimeType": "application/pdf",
                        }
                    },
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "I could compute it.", "thought": True},
                    {"executableCode": {"language": "PYTHON", "code": "print(7)"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "7"}},
                    {"text": "It is.", "thoughtSignature": "c2ln"},
                ],
            },
            {"role": "user", "parts": [{"text": "And 9?"}]},
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"name": "is_prime", "args": {"n": 9}, "id": "c_prime"},
                        "thoughtSignature": "c2ln",
                    }
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "name": "is_prime",
                            "id": "c_prime",
                            "response": {"result": False},
                        }
                    }
                ],
            },
        ]
    },
    "openai-chat": {
        "model": "gpt-4o",
        "messages": [
            {
                "role": "user",
                "name": "Ada",
                "content": [
                    {"type": "text", "text": "What does it say?"},
                    {
                        "type": "file",
                        "file": {
                            "file_data": "data:application/pdf;base64,aGk=",
                            "filename": "a.pdf",
                        },
                    },
                ],
            },
            {"role": "assistant", "content": None, "refusal": "I cannot read that."},
            {"role": "user", "content": "Then ask the database."},
            {
                "role": "assistant",
                "content": "Let me ask.",
                "refusal": None,
                "annotations": [],
                "tool_calls": [
                    {
                        "id": "call_sql",
                        "type": "custom",
                        "custom": {"name": "sql", "input": "select 1"},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_sql", "content": "1"},
        ],
    },
    "openai-responses": {
        "model": "gpt-5.6-sol",
        "input": [
            {"role": "user", "content": "How is risotto made?"},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "They want a recipe."}],
                "encrypted_content": "gAAA",
            },
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "risotto"},
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "phase": "final_answer",
                "content": [
                    {"type": "output_text", "text": "Slowly.", "annotations": [], "logprobs": []}
                ],
            },
            {"role": "user", "content": "How many did so?"},
            {
                "type": "custom_tool_call",
                "call_id": "call_sql",
                "name": "sql",
                "input": "select 1",
            },
            {"type": "custom_tool_call_output", "call_id": "call_sql", "output": "1"},
        ],
    },
}
