"""Long texts: counted in chunks, with the same number of tokens and little memory."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.tokens import tokenizers
from contextwright.tokens.count import count_text, counter

VOCABULARIES = (
    "cl100k_base o200k_base llama3 qwen3 deepseek_v3 mistral_v3 gemma3 gemma4 glm4 kimi_k2"
).split()

WORDS = st.sampled_from(
    [
        *"the|The| cat| don't|'s| I'll|HTTPServer|a1b22|2026| 3.14|_snake_case|camelCase".split(
            "|"
        ),
        *"Q|x y|A B|==|--|https://x.y/z?q=1|<im_end>|aGVsbG8gd29ybGQ|();\n|\t|\n|\n\n| \n x".split(
            "|"
        ),
        *"Привіт| світе|天气很好|，|。|です|、|😀|é|e\u0301|  ".split("|"),
        '{"a": [1,2]}',
        "<|im_end|>",
    ]
)


@given(words=st.lists(WORDS, min_size=2, max_size=60), name=st.sampled_from(VOCABULARIES))
def test_chunks_have_as_many_tokens_as_the_whole(words: list[str], name: str) -> None:
    text, count = "".join(words), counter(name)
    parts: list[str] = []
    start = 0
    for border in tokenizers.BORDER.finditer(text):
        parts.append(text[start : border.end()])
        start = border.end()
    parts.append(text[start:])
    assert "".join(parts) == text
    assert sum(map(count, parts)) == count(text)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_long_text_is_counted_as_the_sum_of_its_lines(name: str) -> None:
    line = 'The committee will publish 17 findings next spring, she said: {"ok": true}.\n'
    count = counter(name)
    number = 4 * tokenizers.CHUNK // len(line)
    assert count(line * number) == count(line) * number
    assert not tokenizers.is_cut(line * number)
    assert count_text(line * number, "gpt-4o").exact


@given(text=st.text(min_size=1), times=st.integers(1, 50))
def test_chunks_join_to_the_text(text: str, times: int) -> None:
    previous, tokenizers.CHUNK = tokenizers.CHUNK, 16
    try:
        found = list(tokenizers.chunks(text * times))
    finally:
        tokenizers.CHUNK = previous
    assert "".join(found) == text * times
    assert all(len(chunk) <= 32 for chunk in found)


def test_a_text_without_borders_is_not_called_exact() -> None:
    counted = count_text("a" * 200_000, "gpt-4o")
    assert counted.tokens == 25_000
    assert not counted.exact
    assert counted.bound < 0.01


MEMORY = """
import resource
from contextwright.tokens.count import count_text
count_text("a b", "gpt-4o")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count_text("a" * 5_000_000, "gpt-4o")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_five_megabytes_of_one_letter_take_little_memory() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    assert int(shown.stdout) < 40_000
