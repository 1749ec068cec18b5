"""gryag's compact text, its metadata, and replies cleaned of it."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.gryag.meta import clean_reply, format_metadata, read_metadata
from samples.formats.gryag import META, user
from strategies.messages import PNG, texts

# --- the compact form ------------------------------------------------------------------------

COMPACT = """Alice#987654: Привіт усім
і тобі, гряг
Bob#111222 → Alice#987654: [↩︎ Alice: Привіт усім] Вітаю
Олена К.#333: [Media] [Image]
gryag: Не набридай.
Alice#987654 → gryag: note#5 is: not a speaker
see issue: this one
[RESPOND]
"""


def test_gry_57_and_58_compact_text() -> None:
    conversation = cw.parse(COMPACT, "gryag")
    said = [
        (m.role, m.author.name if m.author else None, m.text, m.reply_to)
        for m in conversation.messages
    ]
    alice, bot = cw.Author(name="Alice"), cw.Author(name="gryag")
    assert said == [
        ("user", "Alice", "Привіт усім\nі тобі, гряг", None),
        ("user", "Bob", "Вітаю", cw.Reply(author=alice, excerpt="Привіт усім")),
        ("user", "Олена К.", "[Media] [Image]", None),
        ("assistant", None, "Не набридай.", None),
        ("user", "Alice", "note#5 is: not a speaker\nsee issue: this one", cw.Reply(author=bot)),
    ]
    assert [m.meta for m in conversation.messages[:2]] == [{"label": "987654"}, {"label": "111222"}]
    assert all(m.author is None or m.author.id is None for m in conversation.messages)
    assert [f"{c.code} {c.path}" for c in conversation.changes] == ["repair.cue line 8"]
    assert [problem.code for problem in cw.check(COMPACT, "gryag")] == ["GRY-57"]


QUOTES: list[tuple[str, str, cw.Reply | None]] = [
    ("Al#1: [↩︎ Bob: hi] yes", "yes", cw.Reply(author=cw.Author(name="Bob"), excerpt="hi")),
    ("Al#1 → Cy#2: [↩︎ Bob: hi] y", "y", cw.Reply(author=cw.Author(name="Cy"), excerpt="hi")),
    ("Al#1: [↩︎ Bob: a: b] yes", "yes", cw.Reply(author=cw.Author(name="Bob"), excerpt="a: b")),
    ("Al#1: [↩︎ hi] yes", "yes", cw.Reply(excerpt="hi")),
    ("Al#1: [↩︎ : hi] yes", "yes", cw.Reply(excerpt="hi")),
    ("Al#1: [↩︎ Bob: ] yes", "yes", cw.Reply(author=cw.Author(name="Bob"))),
    ("Al#1: [↩︎] yes", "yes", None),
    ("Al#1: [↩︎ Bob: hi yes", "[↩︎ Bob: hi yes", None),
]


@pytest.mark.parametrize(("line", "words", "reply"), QUOTES)
def test_gry_57_quotes(line: str, words: str, reply: cw.Reply | None) -> None:
    [message] = cw.parse(line, "gryag").messages
    assert (message.text, message.reply_to) == (words, reply)


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_line_feed_begins_a_line(mark: str) -> None:
    [message] = cw.parse(f"Al#1: a{mark}Bob#2: b\r\n", "gryag").messages
    assert message.text == f"a{mark}Bob#2: b"


def test_compact_text_without_speakers() -> None:
    conversation = cw.parse("просто слова\nще", "gryag")
    assert conversation.messages == (cw.user("просто слова\nще"),)
    assert [change.code for change in conversation.changes] == ["repair.author"]
    assert cw.parse("", "gryag").messages == ()


# --- metadata --------------------------------------------------------------------------------

FORMATTED: dict[str, tuple[dict[str, Any], str]] = {
    "GRY-31": ({"chat_id": -123, "user_id": 456, "name": "Alice"}, META),
    "order": (
        {
            "name": "A",
            "username": "a",
            "reply_excerpt": "x",
            "reply_to_name": "B",
            "message_id": 5,
            "thread_id": 2,
            "chat_id": 1,
        },
        '[meta] chat_id=1 thread_id=2 message_id=5 username="a" name="A" '
        'reply_to_name="B" reply_excerpt="x"',
    ),
    "ids as text": ({"chat_id": "-123"}, '[meta] chat_id="-123"'),
    "quotes, brackets, lines": ({"name": 'A "b"\n[c]'}, '[meta] name="A \\"b\\" c"'),
    "a backslash swallows no quote": (
        {"name": "a\\", "reply_excerpt": 'b\\"c'},
        '[meta] name="a\\\\" reply_excerpt="b\\\\\\"c"',
    ),
    "long names": ({"name": "n" * 101}, f'[meta] name="{"n" * 98}.."'),
    "names that just fit": ({"name": "n" * 100}, f'[meta] name="{"n" * 100}"'),
    "long words": ({"reply_excerpt": "n" * 121}, f'[meta] reply_excerpt="{"n" * 118}.."'),
    "nothing to say": (
        {
            "name": None,
            "username": "",
            "thread_id": 0,
            "reply_to_message_id": 0,
            "reply_to_user_id": 0,
            "is_bot": 1,
        },
        "",
    ),
    "zero that says something": ({"chat_id": 0}, "[meta] chat_id=0"),
    "brackets alone": ({"name": "[]"}, ""),
}


@pytest.mark.parametrize("name", FORMATTED)
def test_format_metadata(name: str) -> None:
    meta, expected = FORMATTED[name]
    assert format_metadata(meta) == expected


def test_format_metadata_without_the_reply_chain() -> None:
    meta = {"user_id": 1, "reply_to_user_id": 2, "reply_to_name": "B", "reply_excerpt": "x"}
    assert format_metadata(meta, include_reply_chain=False) == '[meta] user_id=1 reply_excerpt="x"'


@given(
    st.dictionaries(
        st.sampled_from(("username", "name", "reply_excerpt", "reply_to_name")),
        texts | st.text('"\\[]= \na'),
    )
)
def test_no_name_breaks_out_of_its_quotes(meta: dict[str, str]) -> None:
    block = format_metadata(meta)
    found = read_metadata(block)
    assert (found is None) == (block == "")
    if found is not None:
        values, rest = found
        assert rest == ""
        assert set(values) <= set(meta)
        for key, value in values.items():
            same = meta[key].replace("\r\n", "\n").translate({91: None, 93: None})
            assert len(str(value)) == len(same) or str(value).endswith("..")


def test_read_metadata() -> None:
    assert read_metadata('[meta] chat_id="-123" user_id=4 name="A\\"b"') == (
        {"chat_id": "-123", "user_id": 4, "name": 'A"b'},
        "",
    )
    assert read_metadata("[meta] is_bot=1 x=2\nhi") == ({"is_bot": 1, "x": 2}, "hi")
    assert read_metadata("[meta] and so on") is None
    assert read_metadata("[metaphor] a=1") is None
    assert read_metadata("I say [meta] a=1") is None


@given(st.lists(st.sampled_from(("[meta]", "[meta ", "]", "x=1", 'y="z"', " ", "\n", "hi"))))
def test_what_people_write_without_a_key_of_ours_is_theirs(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert read_metadata(text) is None
    history = [{"role": "user", "parts": [{"text": text}]}]
    again = cw.convert(history, "gryag", "gryag")
    assert (again.payload, again.changes) == (history, ())


# --- replies ---------------------------------------------------------------------------------

CLEANED = {
    "GRY-51": (f"{META}\nПривіт", "Привіт"),
    "GRY-51 inside a line": (f"Ну {META} привіт", "Ну привіт"),
    "GRY-51 close to a word": ("Ну[meta chat_id=5] привіт", "Ну привіт"),
    "GRY-51 between spaces": ("Ну  [meta chat_id=5]  привіт", "Ну  привіт"),
    "GRY-51 in brackets": ("[meta chat_id=5] Привіт", "Привіт"),
    "GRY-51 speaker": ("[speaker role=user id=5] Привіт", "Привіт"),
    "GRY-51 both": ("[meta chat_id=5] Ну [speaker id=5] привіт", "Ну привіт"),
    "GRY-51 nothing left": (META, ""),
    "GRY-51 at the end": (f"Привіт {META}", "Привіт"),
    "GRY-51 two halves": ("[meta] [speaker id=1]chat_id=1 ok", "ok"),
    "GRY-51 one in another": ("[spea[speaker id=1]ker id=2] ok", "ok"),
    "GRY-51 made to deceive": ("[meta [meta " * 30 + "id=1]" * 60, ""),
    "GRY-51 in capitals": ("[META] chat_id=5\n[Speaker id=5] Привіт", "Привіт"),
    "GRY-51 a line of pairs": ("Так.\nchat_id=-123 user_id=456\nОсь.", "Так.\nОсь."),
    "GRY-52 pairs in a sentence stay": ("if chat_id=5 then", "if chat_id=5 then"),
    "GRY-52 paragraphs stay": ("a\n\nb\n\n\nc", "a\n\nb\n\n\nc"),
    "GRY-52 code stays": (f"```\n{META}\n[IMAGE]\n```", f"```\n{META}\n[IMAGE]\n```"),
    "GRY-52 an open fence": (f"~~~~py\n{META}\n~~~\n[IMAGE]", f"~~~~py\n{META}\n~~~\n[IMAGE]"),
    "GRY-52 behind a fence": (f"```\nx\n```\n{META}\ny", "```\nx\n```\ny"),
    "GRY-52 inline code": ("use `[meta] chat_id=5` so", "use `[meta] chat_id=5` so"),
    "GRY-52 a call in words": ("generate_image(cat) works", "generate_image(cat) works"),
    "GRY-52 the word itself": ("the [meta] tag", "the [meta] tag"),
    "GRY-53 placeholders alone": ("a\n\n[Generated_Image]\n\nb", "a\n\nb"),
    "GRY-53 all of them": ("[IMAGE_GENERATED]\n[attachment]\n[GENERATED]\n [image] \nok", "ok"),
    "GRY-53 placeholders in a sentence": ("see [IMAGE] here", "see [IMAGE] here"),
    "GRY-53 other brackets": ("[x + y] та [10, 20]", "[x + y] та [10, 20]"),
    "lines as Windows ends them": (f"{META}\r\nhi\r\n", "hi"),
    "nothing to do": ("\n hi \n", "\n hi \n"),
}


@pytest.mark.parametrize("name", CLEANED)
def test_clean_reply(name: str) -> None:
    text, expected = CLEANED[name]
    assert clean_reply(text) == expected
    assert clean_reply(expected) == expected


@given(
    st.lists(
        st.sampled_from(
            (
                META,
                "[meta] ",
                "[meta chat_id=1]",
                "[speaker id=1]",
                "[IMAGE]",
                "```",
                "a",
                "\n",
                " ",
                '"',
                "\\",
                "`",
                "chat_id=1 ",
            )
        )
    ).map("".join)
)
def test_a_clean_reply_holds_no_metadata(text: str) -> None:
    cleaned = clean_reply(text)
    if "`" not in text:
        assert not any(block in cleaned for block in (META, "[meta chat_id=1]", "[speaker id=1]"))
        assert read_metadata(cleaned) is None or "_id=" not in cleaned


@pytest.mark.parametrize(
    "unit",
    [
        '[meta] name="',
        "[meta ",
        "[speaker ",
        "chat_id=",
        META,
        "[",
        "`[meta]",
        '\\"',
        '[speaker a="',
        "```\n",
        "[meta]\n",
        "[speaker id=1",
        "[meta] a=1",
        "x[meta a=1 ",
    ],
)
def test_hostile_text_takes_no_longer(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    clean_reply(text)
    read_metadata(text)
    cw.parse(text, "gryag")
    cw.parse([user(text)], "gryag")
    assert time.process_time() - start < 2


def test_gry_51_a_long_reply_is_cleaned_in_a_moment() -> None:
    text = f"{META}\n" + "Слово. " * 100_000
    start = time.process_time()
    assert clean_reply(text).startswith("Слово.")
    assert time.process_time() - start < 1


def test_pictures_survive_the_way_to_gemini_and_back() -> None:
    data = [user("що це?", {"inline_data": {"mime_type": "image/png", "data": PNG}})]
    body = cw.convert(data, "gryag", "gemini", model="gemini-3.8-flash").payload
    assert cw.convert(body, "gemini", "gryag").payload == data


def test_exported_tool_turns_have_no_ids() -> None:
    call = cw.assistant([cw.ToolCall("weather", {"city": "Kyiv"}, id="c1")])
    result = cw.tool_result("c1", "sunny", name="weather")
    assert cw.render([cw.user("?"), call, result], "gryag").payload[1:] == [
        {
            "role": "model",
            "parts": [{"function_call": {"name": "weather", "args": {"city": "Kyiv"}}}],
        },
        {
            "role": "tool",
            "parts": [{"function_response": {"name": "weather", "response": {"output": "sunny"}}}],
        },
    ]


@pytest.mark.parametrize("zero", [0, "0"])
def test_zero_is_no_thread_and_no_message_but_a_person(zero: object) -> None:
    keys = ("thread_id", "reply_to_message_id", "reply_to_user_id")
    assert format_metadata(dict.fromkeys(keys, zero)) == ""
    assert format_metadata(dict.fromkeys(keys, 1)) == (
        "[meta] thread_id=1 reply_to_message_id=1 reply_to_user_id=1"
    )
    assert "user_id=" in format_metadata({"user_id": zero})
