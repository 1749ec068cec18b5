"""Recall from a store: what the index finds, ranked and packed within a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from contextwright.errors import EmbedderError
from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.recall.candidates import in_turn
from contextwright.recall.confidence import confidence_of, without_filler
from contextwright.recall.from_memories import items_of
from contextwright.recall.outline import ASKS, USER, is_said
from contextwright.recall.packing import Packing, RecallHit, RecallResult
from contextwright.recall.questions import Question, asked_among, asked_by, question_of
from contextwright.recall.ranking import rank, rivals_of
from contextwright.recall.signals import TermMatches
from contextwright.store.engines.base import Connection, Value
from contextwright.store.recall import search
from contextwright.store.recall.filling import (
    Candidates,
    SearchedConversation,
    fill,
    read_visible,
    without_repeats,
)
from contextwright.store.recall.meanings import meanings_of
from contextwright.store.recall.options import MOST, RecallRequest
from contextwright.store.recall.terms import DAMAGED
from contextwright.store.records import StoredMemory
from contextwright.store.rows import conversations
from contextwright.store.rows import memories as notes
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import STAND_IN, losses_of
from contextwright.store.rows.index import Place, gaps_of
from contextwright.store.state import State
from contextwright.text.terms import terms_of

if TYPE_CHECKING:
    from contextwright.recall.vectors.matrix import Vectors
    from contextwright.store.recall.nearest import Nearest

__all__ = ["memory_meanings", "recall_everywhere", "recall_in", "vector_of"]

WIDER = 4
"""Multiple of the ranked messages whose vectors are compared, because neighbours and sessions need
them too.
"""
CHATS = 8
"""Number of best matching conversations that are searched closely, of all."""
TRIES, NEAREST = 1_000, 200
"""Number of best messages, by words and by meaning, that select those conversations; of each
conversation an equal share of the former.
"""
COMMON = 0.2
"""Weight of a common word, where other words have 1."""
PART = 0.5
"""Weight of a part of a compound."""
LONG = 5_000
"""Number of messages from which common words are not searched for, because too many have them."""
NEWEST = 30
"""Number of newest messages among which a question may be that is being answered."""
HIDDEN = "SELECT seq FROM marks WHERE conversation = ? AND visibility <> 'public'"
TITLE = "SELECT title FROM conversations WHERE number = ?"
NAMES = "SELECT id FROM conversations WHERE tenant = ? AND number = ?"


def recall_in(state: State, id: str, wish: RecallRequest) -> RecallResult:
    """Recall from a conversation and those it was forked from."""
    trouble = indexed(state, id)
    searched = state.engine.read(
        lambda connection: look(connection, state, id, wish.last, wish.query)
    )
    people, handles = searched.outline.people(), searched.outline.handles()
    question = question_of(wish.query, {name for name, _ in people if name}, wish.now, handles)
    if wish.asker is not None:
        question = asked_by(question, wish.asker, people)
    vector, reason = vector_of(state, question.meaning)

    def work(connection: Connection) -> RecallResult:
        # Not `end`: calls and results of tools are never recalled, so an agent's talk is short.
        said = people.total()
        found = ranked_in(connection, state, searched, question, vector, wish, said)
        packing = Packing(wish.budget, wish.price, wish.limit)
        memories = known(connection, state, id, question, vector, wish)
        names = names_in(connection, searched) if memories else {}
        for item in memories:
            packing.add(named(item, names))
        if found.confidence >= wish.min_confidence:
            fill(connection, packing, wanted([found], wish), wish.excerpts, found.damaged)
        result = packing.recall(wish.query, wish.budget, vector is not None)
        return replace(result, confidence=found.confidence, changes=losses_of(found.damaged))

    return replace(state.engine.read(work), trouble=trouble or reason)


def names_in(connection: Connection, searched: SearchedConversation) -> dict[str, str]:
    """Return the names of visible speakers, by id."""
    people = searched.outline.people().copy()
    for (seq,) in connection.rows(HIDDEN, searched.head.number):
        entry = searched.outline.entry(seq)
        if entry is not None:
            people[entry.speaker, entry.id] -= 1
    return {id: name for (name, id), count in people.items() if id and name and count > 0}


def named(item: RecallHit, people: dict[str, str]) -> RecallHit:
    """Return a memory with the name of who it is about, if that is known."""
    about = item.memory.about if item.memory else None
    return replace(item, title=people.get(about or "", ""))


def recall_everywhere(state: State, wish: RecallRequest) -> RecallResult:
    """Recall from all conversations of a tenant; only the best few are searched closely."""
    trouble = indexed(state, None)
    question = question_of(wish.query, (), wish.now)
    vector, reason = vector_of(state, question.meaning)

    def work(connection: Connection) -> RecallResult:
        total = state.index.results.of(connection, search.size_of_tenant, state.tenant)
        found: list[Candidates] = []
        people: dict[str, str] = {}
        memories = known(connection, state, "", question, vector, wish)
        ids, terms, damaged = fitting(connection, state, question, vector, total)
        for id in ids:
            searched = look(connection, state, id, None, wish.query)
            title = title_of(connection, searched.head) or id
            searched = replace(searched, title=title, known=terms)
            people |= names_in(connection, searched) if memories else {}
            names = {name for name, _ in searched.outline.people() if name}
            asked = asked_among(question, names, searched.outline.handles())
            found.append(ranked_in(connection, state, searched, asked, vector, wish, total))
        packing = Packing(wish.budget, wish.price, wish.limit)
        for item in memories:
            packing.add(named(item, people))
        best = max((one.confidence for one in found), default=0.0)
        if best >= wish.min_confidence:
            fill(connection, packing, wanted(found, wish), wish.excerpts, damaged)
        result = packing.recall(wish.query, wish.budget, vector is not None)
        return replace(result, confidence=best, changes=losses_of(damaged))

    return replace(state.engine.read(work), trouble=trouble or reason)


def indexed(state: State, id: str | None) -> str:
    """Update the index; return why its vectors are not up to date."""
    try:
        state.index.catch_up(state.tenant, id)
        state.index.catch_up_memories(state.tenant, "", *([] if id is None else [id]))
    except EmbedderError as error:
        state.index.catch_up(state.tenant, id, words_only=True)
        return error.args[0]
    return ""


def vector_of(state: State, text: str) -> tuple[Vectors | None, str]:
    """Return the vector of a question, if it has words; else the reason there is none, if known."""
    if state.index.space is None or not terms_of(text):
        return None, ""
    try:
        # An embedder may be remote: hold no transaction while it works.
        vector = state.index.space.vector_of(text)
        return vector if vector.any() else None, ""
    except EmbedderError as error:
        return None, error.args[0]


def known(
    connection: Connection,
    state: State,
    scope: str,
    question: Question,
    vector: Vectors | None,
    wish: RecallRequest,
) -> list[RecallHit]:
    """Return the memories of a conversation's scope that fit; none if only messages are wanted."""
    if not wish.memories:
        return []
    fields: dict[str, Value] = {} if wish.about is None else {"about": wish.about}
    stored = notes.newest(connection, state.tenant, scope, fields, MOST, without="episode")
    visible = [one for one in stored if notes.is_visible(connection, state.tenant, one.memory)]
    near = memory_meanings(connection, state, visible, vector)
    found = items_of([one.memory for one in visible], question, near)
    return [item for item in found if item.score >= wish.min_score]


def memory_meanings(
    connection: Connection, state: State, memories: list[StoredMemory], vector: Vectors | None
) -> list[float] | None:
    """Return how near the meaning of each memory is; None if only words are compared."""
    embedder = state.index.embedder
    if vector is None or embedder is None:
        return None
    return meanings_of(connection, state.tenant, memories, embedder.name, vector)


def look(
    connection: Connection, state: State, id: str, last: int | None, query: str = ""
) -> SearchedConversation:
    """Read a conversation's outline, up to a message; by default to where the question was asked.

    A question that is stored already has all of its words, and answers nothing.
    """
    head = conversations.seen(connection, state.tenant, id)
    length = conversations.length_of(connection, head, id)
    end = length if last is None else min(last, length)
    behind = search.unindexed(connection, gaps_of(connection, state.tenant, head))
    new: dict[int, list[tuple[int, Message]]] = {}
    for (number, seq), message in behind.items():
        new.setdefault(number, []).append((seq, message))
    outline = state.index.outlines.outline(connection, head, end, new)
    found = SearchedConversation(id, head, end, behind, outline)
    asked = None if last is not None else place_of_question(connection, found, query)
    if asked is None:
        return found
    outline = state.index.outlines.outline(connection, head, asked - 1, new)
    return replace(found, end=asked - 1, outline=outline)


def place_of_question(
    connection: Connection, searched: SearchedConversation, query: str
) -> int | None:
    """Return the number of the newest words of a user, if they are the question itself."""
    outline = searched.outline
    for number in range(outline.last, max(outline.last - NEWEST, 0), -1):
        entry = outline.entry(number)
        if entry is not None and entry.is_said and entry.flags & USER:
            if not entry.flags & ASKS or entry.size != len(" ".join(query.split())):
                return None
            found = read_visible(connection, [(searched, number)]).values()
            is_it = any(spoken_text(one).split() == query.split() for one in found)
            return number if is_it else None
    return None


def title_of(connection: Connection, head: Head) -> str:
    """Return the title of a conversation; empty if it has none."""
    return "".join(title for (title,) in connection.rows(TITLE, head.number) if title)


def ranked_in(
    connection: Connection,
    state: State,
    searched: SearchedConversation,
    question: Question,
    vector: Vectors | None,
    wish: RecallRequest,
    total: int,
) -> Candidates:
    """Return the messages of a conversation that may be needed, and the confidence in them."""
    # Hidden messages displace nothing, count for no neighbour, and make nobody more confident.
    hidden = frozenset(seq for (seq,) in connection.rows(HIDDEN, searched.head.number))
    found, meanings, damaged = found_in(
        connection, state, searched, question, vector, wish.width, hidden
    )
    ranked = rank(
        question,
        found,
        meanings,
        searched.outline,
        most=wish.width,
        total=total,
        now=wish.now,
        ranking=wish.ranking,
        allows=wish.allows(hidden),
    )
    ranked = without_repeats(connection, searched, ranked)
    whole = sum(one.weight for one in found) or 1.0
    words = {one.term: one.weight / whole for one in found}
    confidence = confidence_of(ranked, found, question)
    return Candidates(searched, ranked, words, question.bare, confidence, damaged)


def wanted(found: Sequence[Candidates], wish: RecallRequest) -> list[Candidates]:
    """Return what is offered: all conversations are rivals, and nothing is filler or too weak."""
    rivals = rivals_of(some.ranked for some in found)
    offered: list[Candidates] = []
    for some in found:
        ranked = without_filler(some.ranked)
        if wish.min_score:
            least = wish.min_score
            ranked = [one for one in ranked if replace(one, rivals=rivals).score >= least]
        offered.append(replace(some, ranked=ranked, rivals=rivals))
    return offered


def found_in(
    connection: Connection,
    state: State,
    searched: SearchedConversation,
    question: Question,
    vector: Vectors | None,
    width: int,
    hidden: frozenset[int],
) -> tuple[list[TermMatches], dict[int, float] | None, search.Damaged]:
    """Return messages with the words of a question, those near its meaning, and damaged ones."""
    head, end = searched.head, searched.end
    numbers = search.numbers_in(connection, head, end, searched.behind, searched.known)
    damaged = search.damaged_in(connection, searched.id, head, numbers(DAMAGED))
    found = matches_of(question, search.with_bare(numbers, question.bare), end, hidden)
    if vector is None or state.index.space is None:
        return found, None, damaged
    asks = not question.is_remark
    near = state.index.space.nearest(connection, head, vector, width * WIDER, asks=asks, last=end)
    return found, {seq: cosine for (_, seq), cosine in near}, damaged


def matches_of(
    question: Question, numbers_of: Callable[[str], list[int]], end: int, hidden: frozenset[int]
) -> list[TermMatches]:
    """Return the words of a question with the messages that have them, of those up to `end`."""
    common = question.common if end <= LONG else ()
    found: list[TermMatches] = []
    for terms, counts in ((question.terms, 1.0), (common, COMMON)):
        for term in terms:
            numbers = frozenset(numbers_of(term)) - hidden
            weight = search.rarity(len(numbers), max(end, 1)) * counts
            found.append(TermMatches(term, weight, numbers))
    for some in question.parts:
        numbers = frozenset(seq for part in some for seq in numbers_of(part)) - hidden
        if numbers:
            weight = search.rarity(len(numbers), max(end, 1)) * PART
            found.append(TermMatches(some[0], weight, numbers))
    return found


def fitting(
    connection: Connection, state: State, question: Question, vector: Vectors | None, total: int
) -> tuple[list[str], search.TermKeys, search.Damaged]:
    """Return the conversations with the best matching messages, by words or by meaning.

    With them, the messages that the words were found in, of `total` messages, and the damaged ones.
    """
    gaps = state.index.results.of(connection, gaps_of, state.tenant)
    keys = search.keys_of_tenant(connection, state.tenant, gaps)
    damaged = search.damaged_of_tenant(connection, state.tenant, keys)
    with_bare = search.with_bare(keys, question.bare)
    terms = search.weighed(question.terms, max(total, 1), with_bare)
    near: Nearest = []
    if vector is not None and state.index.space is not None:
        near = state.index.space.nearest_of_tenant(connection, state.tenant, vector, NEAREST)
    best: dict[int, None] = {}
    tried: Counter[int] = Counter()
    # Alternate, so that neither words nor meaning alone decide.
    by_words = (place for place, _ in search.ranked(terms))
    tries = 0
    for place in in_turn(by_words, (place for place, _ in near)):
        number = place[0]
        if number in best or tried[number] >= TRIES // CHATS:
            continue
        tries, tried[number] = tries + 1, tried[number] + 1
        if is_recallable(connection, place):
            best[number] = None
        if len(best) >= CHATS or tries >= TRIES:
            break
    rows = (connection.rows(NAMES, state.tenant, number) for number in best)
    ids = [id for found in rows for (id,) in found]
    return ids, search.rare_enough(terms), damaged


def is_recallable(connection: Connection, place: Place) -> bool:
    """Whether a message is part of the conversation, and not hidden where it was written.

    A damaged one may be part of it; a closer look names it.
    """
    message = search.visible(connection, place[0], place)
    return message is not None and (STAND_IN in message.meta or is_said(message))
