"""`cw edit`, `cw erase` and `cw tenants`: change text, remove it, and list whose text there is."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

from contextwright.cli.arguments import read_words
from contextwright.cli.conversations.edit import existing_messages
from contextwright.cli.options import (
    Argument,
    AsJson,
    Conversation,
    Option,
    OptionGroup,
    StoreLocation,
    StoreOptions,
)
from contextwright.cli.output import note, numbered, say, say_json, table
from contextwright.cli.stores import existing
from contextwright.errors import UsageError, shown
from contextwright.messages.times import read_iso, require_time
from contextwright.store.records import Erasure
from contextwright.store.store import Store

__all__ = ["edit", "erase", "tenants"]

AGE = re.compile(r"([0-9]{1,18})([hdw])")
UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def edit(
    conversation: Conversation,
    number: Annotated[int, Argument("N", help="Number of the message (see cw read).")],
    text: Annotated[str, Argument("TEXT", help="New text, or - for standard input.")],
    where: StoreOptions,
    erase_old: Annotated[
        bool, Option("--erase-old", help="Erase the old text. Default: kept as history.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Change the text of a stored message.

    Requests have the new text from then on; a provider's cache ends before it.

    \b
    cw edit lunch 12 "Something vegetarian, please."
    """
    with existing_messages(where, conversation, [number]) as chat:
        chat.edit(number, read_words(text, "the new text"), keep=not erase_old)
    state = "edited, the old text erased" if erase_old else "edited"
    if as_json:
        say_json({"conversation": conversation, "seq": number, "state": state})
    else:
        note(f"cw: message {number:,} of {shown(conversation)} is {state}")
    return 0


class EraseOptions(OptionGroup, frozen=True, kw_only=True):
    """Options of an erasure besides single messages."""

    person: Annotated[
        str | None, Option("--person", metavar="ID", help="Erase all that this author said.")
    ] = None
    older_than: Annotated[
        str | None,
        Option("--older-than", metavar="AGE", help="Erase what is older: 90d, 12h, 2w, a date."),
    ] = None
    everything: Annotated[
        bool, Option("--everything", help="Erase all of the tenant named by --tenant.")
    ] = False
    scrub: Annotated[
        bool, Option("--scrub/--no-scrub", help="Rewrite the files, so that no byte is left.")
    ] = True
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print what would be erased, erase nothing.")
    ] = False


def erase(
    where: StoreOptions,
    what: EraseOptions,
    conversation: Annotated[
        str | None, Argument("[CONVERSATION]", help="Id of a stored conversation.")
    ] = None,
    numbers: Annotated[
        list[int] | None, Argument("[N...]", help="Numbers of its messages (see cw read).")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Erase messages, people or tenants for good.

    A placeholder keeps the number of each message. Excerpts in replies, memories, episodes and
    summaries made from it, its index entries and vectors are erased too, and the files are
    rewritten. Backups that cw made still hold it: their names are printed.

    \b
    cw erase lunch 12 13
    cw erase --person U1234546 --dry-run
    cw erase --tenant acme --older-than 90d
    cw erase --tenant acme --everything
    """
    asked = [conversation, what.person, what.older_than, what.everything or None]
    if sum(one is not None for one in asked) != 1 or (conversation is not None and not numbers):
        hint = "CONVERSATION N..., --person, --older-than or --everything"
        raise UsageError("name one thing to erase", hint=hint)
    if what.everything and not where.tenant:
        raise UsageError("--everything needs --tenant", hint='--tenant "" is no tenant; use cw rm')
    if conversation is not None:
        with existing_messages(where, conversation, numbers or []) as chat:
            erased = chat.erase(*(numbers or []), scrub=what.scrub, dry_run=what.dry_run)
    else:
        with existing(where, embedder=None) as store:
            erased = erase_from(store, where.tenant, what)
    if as_json:
        say_json(erased)
    else:
        report_erasure(erased, dry_run=what.dry_run)
    return 0


def erase_from(store: Store, tenant: str, what: EraseOptions) -> Erasure:
    """Erase a person, old messages, or a tenant."""
    if what.person is not None:
        return store.erase_person(what.person, scrub=what.scrub, dry_run=what.dry_run)
    if what.older_than is not None:
        limit = time_before(what.older_than)
        return store.erase_before(limit, scrub=what.scrub, dry_run=what.dry_run)
    return store.erase_tenant(tenant, scrub=what.scrub, dry_run=what.dry_run)


def time_before(age: str) -> datetime:
    """Return the time that `--older-than` means: a duration ago, or a date."""
    found = AGE.fullmatch(age)
    try:
        if found is None:
            return require_time(read_iso(age))
        return datetime.now(UTC) - timedelta(**{UNITS[found[2]]: int(found[1])})
    except ValueError:
        hint = "write an age like 12h, 90d or 2w, or a date like 2026-11-15"
        raise UsageError(f"--older-than {shown(age)} is not an age or a date", hint=hint) from None
    except OverflowError:
        raise UsageError(f"--older-than {shown(age)} is before the year 1") from None


def report_erasure(erased: Erasure, *, dry_run: bool) -> None:
    """Print what was erased, and where copies may remain."""
    counts = [
        numbered(erased.messages, "message"),
        numbered(erased.quotes, "quote"),
        "1 memory" if erased.memories == 1 else f"{erased.memories:,} memories",
    ]
    if erased.conversations:
        counts.append(f"{numbered(erased.conversations, 'conversation')} removed whole")
    say(f"{'would erase' if dry_run else 'erased'}: {', '.join(counts)}")
    for place in erased.remains:
        note(f"cw: may still hold it: {place}")


def tenants(store: StoreLocation = None, as_json: AsJson = False) -> int:
    """List the tenants of a store, and how much each has.

    \b
    cw tenants
    """
    with existing(StoreOptions(store=store), embedder=None) as opened:
        found = opened.tenants()
    if as_json:
        say_json(found)
    elif found:
        rows = [
            (one.name or '""', *(f"{n:,}" for n in (one.conversations, one.messages, one.memories)))
            for one in found
        ]
        say(table([("tenant", "conversations", "messages", "memories"), *rows], numbers=1))
    else:
        note("cw: no tenants")
    return 0
