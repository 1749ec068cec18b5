"""Account exports of other versions and odd conversations: what they keep, what they say."""

from pathlib import Path

from contextwright.messages.parts import Media
from samples.exports import chatgpt, node, read, reports, write_json


def test_chatgpt_of_a_spoken_question_keeps_its_pictures(tmp_path: Path) -> None:
    """A video call has frames next to its sound, and they have handles of their own."""
    piece = {
        "content_type": "real_time_user_audio_video_asset_pointer",
        "audio_asset_pointer": {"asset_pointer": "sediment://sound"},
        "frames_asset_pointers": [{"asset_pointer": "sediment://frame"}],
        "video_container_asset_pointer": {"asset_pointer": "sediment://film"},
    }
    content = {"content_type": "multimodal_text", "parts": [piece]}
    path = write_json(tmp_path / "c.json", chatgpt(node("u", None, "user", content=content)))
    ((_, _, (message,)),) = read(path)
    assert [(part.kind, part.file_id) for part in message.parts if isinstance(part, Media)] == [
        ("audio", "sound"),
        ("image", "frame"),
        ("video", "film"),
    ]


def test_chatgpt_without_what_came_before_says_so(tmp_path: Path) -> None:
    path = write_json(tmp_path / "c.json", chatgpt(node("u", "gone", "user", "Hi")))
    reason = "'gone' is not in the mapping; what came before is missing"
    changes = [f"repair.branch [0].mapping.u.parent: {reason}"]
    assert reports(path) == [{"skipped": {}, "changes": changes}]


def test_chatgpt_without_ids_stays_apart(tmp_path: Path) -> None:
    first, second, third = (chatgpt(node("u", None, "user", text))[0] for text in "abc")
    for one in (first, second, third):
        del one["conversation_id"]
    data = [{**first, "create_time": 1700000000.5}, second, third]
    ids = [id for id, _, _ in read(write_json(tmp_path / "c.json", data), "chatgpt")]
    assert ids == ["chatgpt-1700000000.5", "chatgpt-[1]", "chatgpt-[2]"]


def test_claude_says_that_answers_are_versions(tmp_path: Path) -> None:
    """Files saved from the site have every version of an answer, one after the other."""
    entry = {"sender": "assistant", "created_at": "2024-05-01T08:00:00Z", "content": []}
    said = [
        {**entry, "uuid": "1", "sender": "human", "text": "Lunch?", "parent_message_uuid": "0"},
        {**entry, "uuid": "2", "text": "Soup.", "parent_message_uuid": "1"},
        {**entry, "uuid": "3", "text": "Risotto.", "parent_message_uuid": "1"},
    ]
    picture = {"file_name": "a.png", "file_uuid": "f"}
    said[0]["files_v2"] = [picture]
    path = write_json(tmp_path / "c.json", [{"uuid": "u", "name": "", "chat_messages": said}])
    reason = "follows '1', not the message before it: versions in one row"
    assert reports(path) == [{"skipped": {}, "changes": [f"repair.branch message 3: {reason}"]}]
    assert read(path)[0][2][0].parts[1] == Media(
        "document", file_id="f", origin="claude", name="a.png"
    )
