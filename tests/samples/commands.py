"""Requests on the command line."""

from __future__ import annotations

from paths import EXAMPLES

TRAIN = str(EXAMPLES / "train.json")

CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is two plus two?"},
        {"role": "assistant", "content": "Four."},
        {"role": "user", "content": "And three plus three?"},
    ],
}

ARGUMENTS = ("--from", "openai-chat", "--model", "gpt-4o")
