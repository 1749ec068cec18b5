"""The words of Slack's blocks, which apps send instead of a text, in Slack's own markup."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.importers.base import Fields

__all__ = ["markup_of"]


def markup_of(blocks: Iterable[Fields]) -> str:
    """Return the words of blocks, a paragraph each; pictures, buttons and lines have none."""
    return "\n\n".join(filter(None, map(block_words, blocks)))


def block_words(block: Fields) -> str:
    """Return the words of one block."""
    match block.maybe("type"):
        case "rich_text":
            return "\n".join(map(rich_words, block.objects("elements")))
        case "section":
            texts = [block.object("text"), *block.objects("fields")]
            return "\n".join(filter(None, map(text_words, texts)))
        case "header":
            return text_words(block.object("text"))
        case "context":
            return " ".join(filter(None, map(text_words, block.objects("elements"))))
        case "markdown":
            return plain(block.maybe("text"))
        case _:
            return ""


def text_words(text: Fields) -> str:
    """Return a text object as markup; a picture becomes its description."""
    if text.maybe("type") == "mrkdwn":
        return text.maybe("text") or ""
    return plain(text.maybe("text") or text.maybe("alt_text"))


def plain(text: str | None) -> str:
    """Return text that is not markup, some of whose signs may be escaped already."""
    return (text or "").replace("<", "&lt;").replace(">", "&gt;")


def rich_words(element: Fields) -> str:
    """Return a paragraph, a list, a quotation or code of rich text."""
    match element.maybe("type"):
        case "rich_text_list":
            is_ordered = element.maybe("style") == "ordered"
            lines = enumerate(map(rich_words, element.objects("elements")), 1)
            return "\n".join(
                f"{f'{place}.' if is_ordered else '•'} {line}" for place, line in lines
            )
        case "rich_text_preformatted":
            return f"```\n{inline_words(element)}\n```"
        case "rich_text_quote":
            return "\n".join(f"&gt; {line}" for line in inline_words(element).splitlines())
        case _:
            return inline_words(element)


def inline_words(element: Fields) -> str:
    """Return the words of a line of rich text."""
    return "".join(map(inline, element.objects("elements")))


def inline(piece: Fields) -> str:
    """Return a piece of rich text."""
    match piece.maybe("type"):
        case "link":
            url, label = piece.text("url"), piece.maybe("text")
            return f"<{url}|{escaped(label)}>" if label else f"<{url}>"
        case "user":
            return f"<@{piece.text('user_id')}>"
        case "channel":
            return f"<#{piece.text('channel_id')}>"
        case "usergroup":
            return f"<!{piece.text('usergroup_id')}>"
        case "broadcast":
            return f"<!{piece.text('range')}>"
        case "emoji":
            return f":{piece.text('name')}:"
        case "date":
            return escaped(piece.maybe("fallback") or "")
        case _:
            return escaped(piece.maybe("text") or "")


def escaped(text: str) -> str:
    """Return text whose signs mean no markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
