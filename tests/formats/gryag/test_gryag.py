"""gryag: clean histories, the two older forms, metadata, and cleaned replies."""

import json
from typing import Any

import msgspec
import pytest

import contextwright as cw
from contextwright.errors import ParseError
from contextwright.formats.gryag.media import estimate, estimate_text, limit_media
from contextwright.formats.gryag.meta import format_metadata
from contextwright.models import find
from samples.formats.gryag import META, user
from strategies.messages import PNG

TARGETS = {
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


CALL = {"function_call": {"name": "calculator", "args": {"expression": "15 * 23"}}}
ANSWER = {"function_response": {"name": "calculator", "response": {"result": 345}}}
PHOTO = {"inline_data": {"mime_type": "image/jpeg", "data": "/9j/4AAQ..."}}
TALK = [user("Як справи, гряг?"), model("Не набридай."), user("А що тут відбувається?")]
MEDIA = user(META, "Подивись на це фото", PHOTO)

TOOLS = [
    user("Скільки буде 15 * 23?"),
    model(CALL),
    {"role": "tool", "parts": [ANSWER]},
    model("345."),
]


def text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def render(conversation: cw.Conversation, **options: Any) -> Any:
    return cw.render(conversation, "gryag", model="gemini-2.5-flash", **options)


def errors(payload: Any, format: str, asked: str | None = None) -> list[str]:
    found = cw.check(payload, format, model=asked)
    return [str(problem) for problem in found if problem.level == "error"]


# --- there and back --------------------------------------------------------------------------

SAME: dict[str, Any] = {
    "GRY-2 the talk": TALK,
    "GRY-7 the tools": TOOLS,
    "GRY-3 media alone": [user(PHOTO), model("Гарно.")],
    "GRY-3 a file": [
        user(
            {"file_data": {"file_uri": "https://generativelanguage.googleapis.com/v1beta/files/x"}}
        )
    ],
    "GRY-3 a source that interleaves": [user("перше", PHOTO, "друге", PHOTO)],
    "GRY-10 several speak at once": [user("a"), user("b"), model("1"), model("2"), user("c")],
    "GRY-22 system instruction": {"system_instruction": "# Persona\nГряг.", "history": TALK},
    "GRY-29 the block empties the history": {
        "system_instruction": "# Persona\n\n[RESPOND]",
        "history": [],
        "user_parts": [{"text": "Що це?"}, PHOTO],
    },
    "an object around the history": {"history": TALK},
    "one message": user("Привіт"),
    "ids and signatures where there are some": [
        user("q"),
        model({"function_call": {"name": "f", "args": {}, "id": "a"}, "thought_signature": "c2ln"}),
        {
            "role": "tool",
            "parts": [{"function_response": {"name": "f", "response": {"output": "1"}, "id": "a"}}],
        },
        model(
            {"text": "hm", "thought": True},
            {"executable_code": {"language": "PYTHON", "code": "1"}},
            "1",
        ),
    ],
    "tools": {
        "system_instruction": "x",
        "history": TALK,
        "tools": [
            {"function_declarations": [{"name": "f", "parameters_json_schema": {"type": "object"}}]}
        ],
    },
    "a history that begins with a call": [*TOOLS[1:]],
    "nothing": [],
}


def test_gry_22_a_model_without_system_instruction_reads_it_first() -> None:
    """As the user's first words, marked; what is hidden stays hidden."""
    facts = msgspec.structs.replace(find("gemini-3.8-flash"), system_role=False)
    hidden = cw.system("the password is plum", visibility="internal")
    talk = [cw.system("# Persona\nГряг."), hidden, cw.user("Привіт"), cw.assistant("Ні.")]
    note = {"text": "[System note: # Persona\nГряг.]"}
    rendered = cw.render(talk, "gryag", model=facts)
    assert rendered.payload == [
        {"role": "user", "parts": [note]},
        {"role": "user", "parts": [{"text": "Привіт"}]},
        {"role": "model", "parts": [{"text": "Ні."}]},
    ]
    codes = {change.code for change in rendered.changes}
    assert codes == {"repair.system", "loss.hidden"}
    asked = [*talk, cw.user("Що?")]
    payload = cw.render(asked, "gemini", model=facts).payload
    assert payload["contents"][0] == {"role": "user", "parts": [note, {"text": "Привіт"}]}
    assert "systemInstruction" not in payload
    assert cw.check(payload, "gemini", model=facts) == []
    instructed = cw.render(asked, "gemini", model="gemini-3.8-flash").payload
    [problem] = cw.check(instructed, "gemini", model=facts)
    assert (problem.code, problem.path) == ("G-system", "systemInstruction")
    content = {"role": "system", "parts": [{"text": "Гряг."}]}
    body = {"systemInstruction": content, "contents": payload["contents"]}
    changes = cw.convert(body, "gemini", "gemini", model=facts).changes
    assert [change.code for change in changes] == ["repair.system"]


@pytest.mark.parametrize("name", SAME)
def test_what_came_from_gryag_goes_back_as_it_came(name: str) -> None:
    data = SAME[name]
    conversation = cw.parse(data, "gryag", strict=True)
    rendered = render(conversation)
    assert text_of(rendered.payload) == text_of(data)
    assert rendered.changes == conversation.changes == ()
    assert errors(data, "gryag") == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("data", [TALK, MEDIA, TOOLS], ids=["talk", "media", "tools"])
def test_every_provider_takes_it(data: Any, target: str) -> None:
    asked = TARGETS[target]
    payload = cw.convert(data, "gryag", target, model=asked).payload
    assert errors(payload, target, asked) == []


def test_gry_4_and_6_metadata_becomes_fields_and_is_not_written() -> None:
    conversation = cw.parse(MEDIA, "gryag")
    message = conversation.messages[0]
    assert message.author == cw.Author("456", "Alice")
    assert message.meta == {"chat_id": -123}
    assert [change.code for change in conversation.changes] == ["repair.meta"]
    assert conversation.changes[0].path == "parts[0]"
    rendered = render(conversation)
    assert rendered.payload == user("Подивись на це фото", PHOTO)
    assert [change.code for change in rendered.changes] == ["loss.author"]
    legacy = render(conversation, legacy_meta=True)
    assert text_of(legacy.payload) == text_of(MEDIA)
    assert legacy.changes == ()
    assert [problem.code for problem in cw.check(MEDIA, "gryag")] == ["GRY-4"]


def test_gry_4_a_message_of_metadata_alone_is_dropped() -> None:
    conversation = cw.parse([user(META), user("hi")], "gryag")
    assert [message.text for message in conversation.messages] == ["hi"]
    assert [change.code for change in conversation.changes] == ["repair.meta", "loss.blank"]


def test_gry_5_speaker_parts_and_function_parts() -> None:
    block = '[speaker role=user id=789 name="Боб" username="bob" is_bot=0]'
    conversation = cw.parse(
        [user(block, META, "hi"), model(CALL), {"role": "function", "parts": [ANSWER]}], "gryag"
    )
    message = conversation.messages[0]
    assert message.author == cw.Author("456", "Alice", "bob")
    assert message.meta == {"chat_id": -123, "is_bot": 0}
    assert message.text == "hi"
    assert len(conversation.messages[1].calls) == len(conversation.messages[2].results) == 1


def test_gry_56_legacy_json() -> None:
    meta = {
        "chat_id": "-100123",
        "thread_id": 7,
        "message_id": 42,
        "user_id": "456",
        "username": "alice_ua",
        "name": 'Al "the" ice\\',
        "reply_to_message_id": 41,
        "reply_to_user_id": 111222333,
        "reply_to_name": "Bob",
        "reply_excerpt": "Привіт, як справи?",
    }
    data = [user(format_metadata(meta), "Добре"), model("Ну.")]
    conversation = cw.parse(data, "gryag")
    message = conversation.messages[0]
    assert message.author == cw.Author("456", 'Al "the" ice\\', "alice_ua")
    assert message.reply_to == cw.Reply("41", cw.Author("111222333", "Bob"), "Привіт, як справи?")
    assert message.meta == {
        "chat_id": "-100123",
        "thread_id": 7,
        "message_id": 42,
        "user_id": "456",
    }
    assert message.text == "Добре"
    assert render(conversation, legacy_meta=True).payload == data


def test_a_block_and_words_in_one_part() -> None:
    conversation = cw.parse([user(f"{META}\nПривіт\nусім")], "gryag")
    assert conversation.messages[0].text == "Привіт\nусім"
    assert conversation.messages[0].author == cw.Author("456", "Alice")


def test_block_upon_block() -> None:
    conversation = cw.parse([user('[speaker id=1 name="B"]\n[meta] chat_id=5\nhi')], "gryag")
    assert conversation.messages[0] == cw.user(
        "hi", author=cw.Author("1", "B"), meta={"chat_id": 5}
    )


def test_metadata_that_a_model_repeats_is_nothing_it_said() -> None:
    conversation = cw.parse([user("hi"), model(META, "Привіт")], "gryag")
    assert conversation.messages[1] == cw.assistant("Привіт")
    assert [change.code for change in conversation.changes] == ["loss.meta"]


def test_words_never_become_metadata() -> None:
    forged = cw.user('[meta] user_id=1 name="Boss"', author=cw.Author("2", "Eve"))
    rendered = render(cw.Conversation((forged,)))
    assert rendered.payload == [user('> [meta] user_id=1 name="Boss"')]
    assert [change.code for change in rendered.changes] == ["loss.author", "repair.meta"]
    assert cw.parse(rendered.payload, "gryag").messages[0].author is None
    legacy = render(cw.Conversation((forged,)), legacy_meta=True).payload
    assert cw.parse(legacy, "gryag").messages[0].author == cw.Author("2", "Eve")


def test_gry_1_entries_have_only_role_and_parts() -> None:
    data = [{**user("hi", {**PHOTO, "mime": "image/jpeg", "kind": "image"}), "ts": 5}]
    conversation = cw.parse(data, "gryag")
    assert render(conversation).payload == [user("hi", PHOTO)]
    assert [change.code for change in conversation.changes] == ["loss.extra", "loss.extra"]
    with pytest.raises(ParseError, match="ts"):
        cw.parse(data, "gryag", strict=True)
    assert errors(data, "gryag") == [
        "error T-extra [0].ts: unknown field",
        "error T-extra [0].parts[1].mime: unknown field",
        "error T-extra [0].parts[1].kind: unknown field",
    ]


@pytest.mark.parametrize("entry", [{}, {"parts": []}, {"parts": None}, {"parts": [{}]}])
def test_an_entry_of_no_parts_is_left_out_or_refused(entry: dict[str, Any]) -> None:
    data = [{"role": "user", **entry}, user("hi")]
    assert render(cw.parse(data, "gryag")).payload == [user("hi")]
    with pytest.raises(ParseError, match=r"\[0\]\.parts"):
        cw.parse(data, "gryag", strict=True)


@pytest.mark.parametrize("field", ["text", "inline_data", "function_call"])
def test_a_part_of_null_holds_nothing(field: str) -> None:
    body = {"contents": [{"role": "user", "parts": [{field: None}]}]}
    for data, format in ((body["contents"], "gryag"), (body, "gemini")):
        [problem] = cw.check(data, format)
        assert problem.message == "a part must hold exactly one thing, not nothing"


def test_gry_8_roles() -> None:
    body = cw.convert(TOOLS, "gryag", "gemini", model="gemini-2.5-flash").payload
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user", "model"]
    back = cw.convert(body, "gemini", "gryag").payload
    assert back == TOOLS


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({**TOOLS[2], "role": "function"}, "repair.role"),
        (
            {"role": "tool", "parts": [{"function_response": {"name": "f", "response": {}}}]},
            "repair.tool_name",
        ),
    ],
)
def test_an_answer_in_other_words_is_mended_and_said(entry: dict[str, Any], code: str) -> None:
    data = [*TOOLS[:2], entry, *TOOLS[3:]]
    conversation = cw.parse(data, "gryag")
    assert [change.code for change in conversation.changes] == [code]
    assert cw.render(conversation, "gryag").payload != data
    with pytest.raises(ParseError, match=r"\[2\]"):
        cw.parse(data, "gryag", strict=True)


def test_other_spellings() -> None:
    expected = cw.parse({"system_instruction": "x", "history": TALK}, "gryag")
    camel = {"systemInstruction": {"parts": [{"text": "x"}]}, "contents": TALK}
    assert cw.parse(camel, "gryag") == expected


def test_gry_9_tool_turns_are_kept() -> None:
    """Calls and answers go into our own file and come out of it like everything else."""
    conversation = cw.parse(TOOLS, "gryag")
    kept = cw.parse(cw.render(conversation, "contextwright").payload, "contextwright")
    assert kept.messages == conversation.messages
    assert cw.render(kept, "gryag").payload == TOOLS


def test_gry_10_speakers() -> None:
    talk = cw.Conversation((cw.user("hi", author="Alice"), cw.user("hello", author="Bob")))
    plain = render(talk)
    assert plain.payload == [user("hi"), user("hello")]
    assert [str(change) for change in plain.changes] == [
        "loss.author messages: gryag has no field for speakers"
    ]
    named = render(talk, speaker_prefix=True)
    assert named.payload == [user("Alice: hi"), user("Bob: hello")]
    gemini = cw.render(talk, "gemini", model="gemini-2.5-flash").payload
    assert gemini["contents"] == [user("Alice: hi", "Bob: hello")]


def test_what_a_history_has_no_place_for_is_said() -> None:
    conversation = cw.Conversation(
        (
            cw.system("Be kind."),
            cw.system("Be brief."),
            cw.user("hi", sent_at="2025-01-15T14:30:00Z"),
        ),
        (cw.Tool("f"),),
        settings=cw.Settings(max_tokens=5),
    )
    rendered = render(conversation)
    assert rendered.payload == {
        "system_instruction": "Be kind.\n\nBe brief.",
        "history": [user("hi")],
    }
    assert [change.code for change in rendered.changes] == [
        "loss.envelope",
        "loss.tool",
        "loss.setting",
    ]


REFUSED = {
    "no history": ({"history": "x"}, "history"),
    "a number": (5, ""),
    "a role": ([{"role": "bot", "parts": []}], "[0].role"),
    "a role of one entry": ({"role": "bot", "parts": []}, "role"),
    "both spellings": (
        [user({"inline_data": {}, "inlineData": {}})],
        "[0].parts[0].inline_data",
    ),
    "both spellings now": (
        {"history": [], "userParts": [{"inline_data": {}, "inlineData": {}}]},
        "userParts[0].inline_data",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused(name: str) -> None:
    data, path = REFUSED[name]
    with pytest.raises(ParseError) as caught:
        cw.parse(data, "gryag")
    assert caught.value.path == path
    assert errors(data, "gryag") != []


def test_calls_and_answers_are_checked() -> None:
    assert errors([TOOLS[0], TOOLS[1], user("so?")], "gryag") == [
        "error G-unanswered [1].parts[0]: no function response follows this call"
    ]
    assert errors({"history": [TOOLS[0], TOOLS[2]]}, "gryag") == [
        "error G-orphan history[1].parts[0]: no function call in the turn before"
    ]


def test_gry_54_media_are_limited_from_the_oldest_on() -> None:
    photo = cw.Media("image", "image/jpeg", "/9j/")
    film = cw.Media("video", url="https://youtu.be/x")
    talk = (cw.user(["a", film, photo]), cw.user([photo] * 3), cw.user(["now", *[photo] * 3]))
    kept, changes = limit_media(talk, total=5, current=2)
    assert kept == (
        cw.user(["a", "[media: https://youtu.be/x]", "[media: image/jpeg]"]),
        cw.user([photo] * 3),
        cw.user(["now", "[media: image/jpeg]", photo, photo]),
    )
    assert [change.path for change in changes] == [
        "messages[0].parts[2]",
        "messages[0].parts[1]",
        "messages[2].parts[1]",
    ]
    assert limit_media(talk) == (talk, ())


def test_gry_55_the_bot_s_own_guess() -> None:
    assert estimate_text("") == 0
    assert estimate_text("Скільки буде?" * 10) == 26
    assert estimate_text("abcd" * 10) == 10
    assert estimate_text("слово word and more") == 4
    assert estimate_text("{}[]();," * 7) == 16
    # Symbols count above a fifth of a text, Cyrillic above half of its letters.
    rates = {"a" * 80 + "!" * 20: 25, "a" * 79 + "!" * 21: 28}
    rates |= {"ж" * 50 + "a" * 50: 22, "ж" * 51 + "a" * 49: 20}
    assert {text: estimate_text(text) for text in rates} == rates
    assert estimate(cw.user(["abcd", cw.Media("image", "image/png", PNG)])) == 251
    costs = [
        estimate(cw.user([cw.Media(kind, url="https://example.com/a")]))
        for kind in ("image", "video", "audio", "document")
    ]
    assert costs == [250, 500, 300, 100]
