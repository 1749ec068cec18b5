"""Account exports: ChatGPT and Claude, whole outputs."""

from pathlib import Path
from typing import Any

import pytest

from contextwright.errors import ParseError
from contextwright.messages.message import Author, Message
from contextwright.messages.parts import Media, Opaque, Text, Thinking, ToolCall, ToolResult
from samples.exports import CHATGPT, CLAUDE, chatgpt, node, read, reports, write_json, write_zip


def source(id: str, conversation: str = "c") -> dict[str, Any]:
    return {"source": f"chatgpt/{conversation}/{id}"}


USER = Message(
    "user", (Text("What's for lunch?"),), sent_at="1700000001.25", meta=source("u", "conv-1")
)


def test_chatgpt_takes_the_branch_last_seen(tmp_path: Path) -> None:
    path = write_json(tmp_path / "conversations.json", CHATGPT)
    answer = Message(
        "assistant",
        (Text("Risotto."),),
        sent_at="1700000003.0",
        meta={**source("a2", "conv-1"), "chatgpt": {"weight": 1.0}},
    )
    assert read(path) == [("conv-1", "Lunch", (USER, answer))]
    skipped = {"empty message": 1, "on another branch (edited or regenerated)": 1}
    assert reports(path) == [{"skipped": skipped, "changes": []}]


def test_chatgpt_branches_become_forks(tmp_path: Path) -> None:
    from contextwright import importers

    path = write_zip(tmp_path / "export.zip", {"conversations.json": CHATGPT, "user.json": {}})
    main, fork = importers.read(path, branches=True)
    assert (fork.id, fork.parent, fork.at) == ("conv-1-a1", "conv-1", 1)
    assert list(main.messages)[: fork.at] == [USER]
    assert fork.messages == (
        Message("assistant", (Text("Soup."),), sent_at="1700000002.0", meta=source("a1", "conv-1")),
    )


def test_a_branch_of_a_branch_forks_from_that_branch(tmp_path: Path) -> None:
    from contextwright import importers

    data = chatgpt(
        node("u", None, "user", "1"),
        node("a", "u", "assistant", "2"),
        node("b", "u", "assistant", "3"),
        node("c", "b", "user", "4"),
        node("d", "b", "user", "5"),
        node("e", "a", "user", "6"),
    )
    path = write_json(tmp_path / "x.json", data)
    found = [
        (one.id, one.parent, one.at, [message.text for message in one.messages])
        for one in importers.read(path, branches=True)
    ]
    assert found == [
        ("c", None, 0, ["1", "2", "6"]),
        ("c-c", "c", 1, ["3", "4"]),
        ("c-d", "c-c", 2, ["5"]),
    ]


CONTENTS: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = [
    ("text", {"parts": ["a", "", "b"]}, (Text("a"), Text("b"))),
    ("code", {"language": "python", "text": "1 + 1"}, (Text("1 + 1"),)),
    (
        "thoughts",
        {"thoughts": [{"summary": "Sum", "content": "Add."}]},
        (Thinking("Sum\n\nAdd.", origin="chatgpt"),),
    ),
    (
        "multimodal_text",
        {
            "parts": [
                {
                    "content_type": "image_asset_pointer",
                    "asset_pointer": "file-service://file-1",
                    "width": 10,
                },
                {"content_type": "audio_transcription", "text": "heard"},
                "see",
            ]
        },
        (Media("image", file_id="file-1", origin="chatgpt"), Text("heard"), Text("see")),
    ),
    (
        "tether_quote",
        {"title": "T", "url": "https://x.org", "text": "q"},
        (Text("T\nhttps://x.org\nq"),),
    ),
    ("tether_browsing_display", {"result": "L1", "summary": None}, (Text("L1"),)),
    ("system_error", {"name": "E", "text": "bad"}, (Text("E: bad"),)),
    (
        "of_next_year",
        {"text": "words", "x": 1},
        (Opaque("chatgpt", {"content_type": "of_next_year", "text": "words", "x": 1}, "words"),),
    ),
]


@pytest.mark.parametrize(("kind", "content", "parts"), CONTENTS, ids=[row[0] for row in CONTENTS])
def test_chatgpt_contents(
    tmp_path: Path, kind: str, content: dict[str, Any], parts: tuple[Any, ...]
) -> None:
    data = chatgpt(node("a", None, "assistant", content={"content_type": kind, **content}))
    assert read(write_json(tmp_path / "x.json", data)) == [
        ("c", "T", (Message("assistant", parts, meta=source("a")),))
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            {
                "content_type": "user_editable_context",
                "user_profile": "I bake.",
                "user_instructions": "Be brief.",
            },
            "I bake.\n\nBe brief.",
        ),
        (
            {"content_type": "user_editable_context", "user_instructions": "Be brief."},
            "Be brief.",
        ),
        (
            {"content_type": "model_editable_context", "model_set_context": "They bake."},
            "They bake.",
        ),
    ],
)
def test_what_chatgpt_knows_of_a_person_is_an_instruction(
    tmp_path: Path, content: dict[str, Any], text: str
) -> None:
    data = chatgpt(node("a", None, "user", content=content))
    assert read(write_json(tmp_path / "x.json", data)) == [
        ("c", "T", (Message("system", (Text(text),), meta=source("a")),))
    ]


def test_chatgpt_calls_and_all_their_answers(tmp_path: Path) -> None:
    code = {"content_type": "code", "language": "unknown", "text": '{"size": "big"}'}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_2"}
    data = chatgpt(
        node("u", None, "user", "Draw", name="Ann"),
        node("a", "u", "assistant", content=code, recipient="dalle.text2im"),
        node("t", "a", "tool", picture, name="dalle.text2im"),
        node("t2", "t", "tool", "Say no more.", name="dalle.text2im"),
        node("p", "t2", "assistant", "print(1)", recipient="python"),
        node(
            "o",
            "p",
            "tool",
            name="python",
            content={"content_type": "execution_output", "text": "1"},
        ),
    )
    answer = (Media("image", file_id="file_2", origin="chatgpt"), Text("Say no more."))
    assert read(write_json(tmp_path / "x.json", data))[0][2] == (
        Message("user", (Text("Draw"),), Author(name="Ann"), meta=source("u")),
        Message(
            "assistant",
            (ToolCall("dalle.text2im", {"size": "big"}, "a", '{"size": "big"}'),),
            meta=source("a"),
        ),
        Message("tool", (ToolResult("a", answer, "dalle.text2im"),), meta=source("t")),
        Message("assistant", (ToolCall("python", {"input": "print(1)"}, "p"),), meta=source("p")),
        Message("tool", (ToolResult("p", "1", "python"),), meta=source("o")),
    )


def test_chatgpt_attachments_keep_their_names(tmp_path: Path) -> None:
    file = {"id": "file-9", "name": "plan.pdf", "mimeType": "application/pdf", "size": 3}
    data = chatgpt(node("u", None, "user", "Read", metadata={"attachments": [file]}))
    message = read(write_json(tmp_path / "x.json", data))[0][2][0]
    media = Media(
        "document", "application/pdf", file_id="file-9", origin="chatgpt", name="plan.pdf"
    )
    assert message.parts == (Text("Read"), media)


def test_chatgpt_without_a_current_node(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", chatgpt(node("u", None, "user", "1"), current_node="?"))
    reason = "'?' is not in the mapping; using the last leaf"
    change = f"repair.branch [0].current_node: {reason}"
    assert reports(path) == [{"skipped": {}, "changes": [change]}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (chatgpt(node("a", "a", "user", "1")), "[0].mapping.a.parent: a message is its own"),
        (chatgpt(node("a", None, "user", content=5)), "[0].mapping.a.message.content: must be"),
        (chatgpt(node("a", None, 7, "1")), "[0].mapping.a.message.author.role: must be text"),
        ([{"mapping": []}], "[0].mapping: must be an object"),
        ([5], "unknown kind of file"),
    ],
)
def test_chatgpt_of_a_wrong_shape(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(write_json(tmp_path / "x.json", data))
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "x.json"))


def test_a_circle_apart_from_the_branch_of_chatgpt_is_left_out_and_said(tmp_path: Path) -> None:
    circle = (node("a", "b", "user", "1"), node("b", "a", "assistant", "2"))
    data = chatgpt(*circle, node("u", None, "user", "3"))
    path = write_json(tmp_path / "x.json", data)
    skipped = {"on another branch (edited or regenerated)": 2}
    assert reports(path) == [{"skipped": skipped, "changes": []}]
    with pytest.raises(ParseError, match=r"mapping\.a\.parent: a message is its own ancestor"):
        read(path, branches=True)


THOUGHT = {"content_type": "thoughts", "thoughts": [{"content": "Add."}]}
CHART = {"content_type": "chart", "rows": [1]}


@pytest.mark.parametrize(
    ("content", "asked", "answered"),
    [
        (THOUGHT, Thinking("Add.", origin="chatgpt"), "Add."),
        (CHART, Opaque("chatgpt", CHART), (Opaque("chatgpt", CHART),)),
    ],
)
def test_what_is_no_text_stays_beside_a_call_and_in_a_result(
    tmp_path: Path, content: dict[str, Any], asked: Any, answered: Any
) -> None:
    data = chatgpt(
        node("a", None, "assistant", content=content, recipient="python"),
        node("t", "a", "tool", content=content, name="python"),
    )
    ((_, _, (call, result)),) = read(write_json(tmp_path / "x.json", data))
    assert call.parts == (asked, ToolCall("python", {}, "a"))
    assert [one.content for one in result.results] == [answered]


# --- Claude ------------------------------------------------------------------------------------


def test_claude(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "export.zip", {"conversations.json": CLAUDE, "users.json": []})
    assert read(path) == [
        (
            "chat-1",
            "Tea",
            (
                Message(
                    "user",
                    (Text("Which tea?"), Media("document", name="menu.png")),
                    sent_at="2025-01-01T10:00:01.000000Z",
                    meta={"source": "claude/chat-1/m1"},
                ),
                Message(
                    "assistant",
                    (Text("Green."),),
                    sent_at="2025-01-01T10:00:02.000000Z",
                    meta={"source": "claude/chat-1/m2"},
                ),
            ),
        )
    ]


def test_claude_blocks_without_words_leave_the_plain_text(tmp_path: Path) -> None:
    chat = {
        "uuid": "c",
        "chat_messages": [
            {"uuid": "m", "sender": "human", "text": "Tea?", "content": [{"type": "text"}]},
            {
                "uuid": "n",
                "sender": "assistant",
                "text": "Green.",
                "content": [{"type": "text", "text": ""}, {"type": "text", "text": None}],
            },
        ],
    }
    path = write_json(tmp_path / "conversations.json", [chat])
    ((_, _, messages),) = read(path)
    assert [message.text for message in messages] == ["Tea?", "Green."]
    assert reports(path) == [{"skipped": {"block without its text": 2}, "changes": []}]


def test_claude_results_stand_apart_from_the_reply(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Look it up."},
        {"type": "tool_use", "name": "web_search", "input": {"query": "tea"}, "id": None},
        {
            "type": "tool_result",
            "name": "web_search",
            "content": [{"type": "text", "text": "green"}],
            "is_error": False,
        },
        {"type": "text", "text": "Green."},
        {"type": "token_budget"},
    ]
    entry = {"uuid": "m", "sender": "assistant", "text": "", "content": blocks, "created_at": "1"}
    words = {"uuid": "n", "sender": "human", "text": "Thanks", "content": []}
    attached = {"file_name": "a.txt", "file_type": "txt", "extracted_content": "words"}
    words["attachments"] = [attached]
    chat = {"uuid": "c", "name": "", "chat_messages": [entry, words]}
    path = write_json(tmp_path / "x.json", [chat])
    assert read(path) == [
        (
            "c",
            None,
            (
                Message(
                    "assistant",
                    (
                        Thinking("Look it up.", origin="claude"),
                        ToolCall("web_search", {"query": "tea"}, "m-0"),
                    ),
                    sent_at="1",
                    meta={"source": "claude/c/m"},
                ),
                Message(
                    "tool",
                    (ToolResult("m-0", "green", "web_search"),),
                    sent_at="1",
                    meta={"source": "claude/c/m/1"},
                ),
                Message(
                    "assistant",
                    (Text("Green."),),
                    sent_at="1",
                    meta={"source": "claude/c/m/2"},
                ),
                Message(
                    "user",
                    (
                        Text("Thanks"),
                        Media.from_bytes("document", b"words", "text/plain", name="a.txt"),
                    ),
                    meta={"source": "claude/c/n"},
                ),
            ),
        )
    ]
    assert reports(path) == [{"skipped": {"token budget": 1}, "changes": []}]


def test_branches_are_followed_no_further_than_they_are_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three thousand branches of one chat walked back to its root are millions of steps."""
    from contextwright.importers.sources.chatgpt import Tree

    walk, steps = Tree.branch, list[int]()

    def counted(self: Tree, *arguments: Any) -> list[str]:
        path = walk(self, *arguments)
        steps.append(len(path))
        return path

    monkeypatch.setattr(Tree, "branch", counted)
    nodes, last = {"r": node("r", None)}, "r"
    for number in range(300):
        asked, told, other = f"q{number}", f"a{number}", f"b{number}"
        nodes[asked] = node(asked, last, "user", "Again?")
        nodes[told] = node(told, asked, "assistant", "Yes.")
        nodes[other] = node(other, asked, "assistant", "No.")
        last = told
    chat = {"id": "c", "title": "t", "mapping": nodes, "current_node": last}
    found = read(write_json(tmp_path / "conversations.json", [chat]), "chatgpt", branches=True)
    assert len(found) == 301
    assert sum(steps) <= len(nodes)
