"""The words inside identifiers, however they are joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.text.terms import (
    findable_terms,
    keywords,
    matching_terms,
    term_variants,
    terms_of,
    written_in,
)
from contextwright.text.words.identifiers import parts_of


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("getThreadHistory", "get Thread History getThreadHistory"),
        ("get_thread_history", "get thread history getthreadhistory"),
        ("GET_THREAD_HISTORY", "GET THREAD HISTORY GETTHREADHISTORY"),
        ("__init_subclass__", "init subclass initsubclass"),
        ("HTTPServerError", "HTTP Server Error HTTPServerError"),
        ("HTTPServer", "HTTP Server HTTPServer"),
        ("UNESCOs", ""),
        ("Base64Encoder", "Base64 Encoder Base64Encoder"),
        ("step_2", "step step2"),
        ("iPhone", "Phone iPhone"),
        ("відкрити_файл", "відкрити файл відкритифайл"),
        ("thread", ""),
        ("thread-history", ""),
        ("src/thread/history.py", ""),
        ("PDFs", ""),
        ("a_b", ""),
        ("dQw4w9WgXcQ", ""),
        ("_", ""),
        ("x" * 99 + "Yz", ""),
    ],
)
def test_parts(identifier: str, parts: str) -> None:
    assert parts_of({identifier}) == set(parts.split())


SPELLINGS = (
    "getThreadHistory",
    "GetThreadHistory",
    "get_thread_history",
    "GET_THREAD_HISTORY",
    "get-thread-history",
    "src/get/thread/history.py",
    "get thread history",
)


@pytest.mark.parametrize("message", SPELLINGS)
@pytest.mark.parametrize("question", SPELLINGS)
def test_each_spelling_finds_the_others(question: str, message: str) -> None:
    words = {"get", "thread", "history"}
    found = keywords(f"Who calls {question}?") & findable_terms(f"We renamed `{message}` today.")
    assert found >= terms_of(" ".join(words))


@pytest.mark.parametrize("said", ["getthreadhistory", *SPELLINGS[:4]])
@pytest.mark.parametrize("asked", SPELLINGS[:4])
def test_the_whole_of_an_identifier_has_all_of_its_words(asked: str, said: str) -> None:
    terms = keywords(asked)
    assert matching_terms(f"I use {said} daily.", terms, term_variants(asked)) == terms
    assert matching_terms(f"Ich nutze {said} nicht.", terms, term_variants(asked)) == terms


@pytest.mark.parametrize("text", ["调用{}函数", "{}を呼ぶ", "เรียก{}แล้ว", "{}를 불러", "कॉल {} करें"])
def test_letters_without_spaces_around_an_identifier_are_no_part_of_it(text: str) -> None:
    for spelling in SPELLINGS[:4]:
        assert terms_of(spelling) <= terms_of(text.format(spelling))


def test_in_code_only_whole_names_count() -> None:
    code = "The key is here:\n```python\nuser_token = getApiKey(Mohammed)\n```\nSee load_config."
    assert parts_of(written_in(code).marked) == {"load", "config", "loadconfig"}
    terms = findable_terms(code)
    assert {"user_token"} | terms_of("getapikey") <= terms
    assert not terms & {"user", "token", "\ue001lmhmd"}
    inline = "~~~ `user_token` ``` is_open"
    assert parts_of(written_in(inline).marked) == set("user token usertoken is open isopen".split())


def test_their_words_do_not_show_a_language() -> None:
    assert "termin" in terms_of("Der Termin ist in was_the_one_for_you")
    assert "rechnung" in terms_of("Die Rechnungen sind in `is_this_the_one_with_you`")


WORDS = st.lists(st.sampled_from("open close file thread user name list".split()), min_size=2)


@given(WORDS.map(lambda words: words[:5]))
def test_identifiers_have_the_terms_of_their_words(words: list[str]) -> None:
    expected = terms_of(" ".join(words))
    camel = words[0] + "".join(map(str.capitalize, words[1:]))
    assert expected <= terms_of(camel)
    assert expected <= terms_of("_".join(words))
    assert terms_of(camel) <= terms_of("_".join(words))


@given(st.text(st.sampled_from("aB_1 xYz") | st.characters(), max_size=60))
def test_parts_of_any_text(text: str) -> None:
    for part in parts_of(written_in(text).marked):
        assert len(part) > 1
        assert "_" not in part
