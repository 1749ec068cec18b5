"""Recall from a store: search the index, rank the candidates, pack the best into a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from contextwright.errors import EmbedderError
from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.recall.candidates import interleave
from contextwright.recall.confidence import confidence_of, without_filler
from contextwright.recall.memory_ranking import rank_memories
from contextwright.recall.outline import ASKS, USER, is_spoken
from contextwright.recall.packing import Packing, RecallHit, RecallResult
from contextwright.recall.questions import Question, parse_question, with_asker, with_speakers
from contextwright.recall.ranking import rank, rivals_log_odds
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
from contextwright.store.recall.memory_vectors import memory_cosines
from contextwright.store.recall.options import MAX_RANKED, RecallRequest
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

__all__ = ["cosines_of_memories", "recall_tenant", "recall_conversation", "vector_of"]

VECTOR_FACTOR = 4
"""How many times more messages get a cosine than are ranked, because neighbours and sessions use
cosines too.
"""
MAX_CONVERSATIONS = 8
"""How many conversations of a tenant are searched: those that match best."""
MAX_TRIES, MAX_NEAREST = 1_000, 200
"""How many of a tenant's best messages select those conversations, an equal share of each
conversation; and how many of them at most by embedding.
"""
COMMON_TERM_WEIGHT = 0.2
"""Factor of the weight of common terms."""
COMPOUND_PART_WEIGHT = 0.5
"""Factor of the weight of a compound's parts."""
MAX_FOR_COMMON_TERMS = 5_000
"""Number of messages above which common terms are not searched for: too many contain them."""
NEWEST_CHECKED = 30
"""Number of newest messages that are checked for the question itself."""
HIDDEN = "SELECT seq FROM marks WHERE conversation = ? AND visibility <> 'public'"
TITLE = "SELECT title FROM conversations WHERE number = ?"
NAMES = "SELECT id FROM conversations WHERE tenant = ? AND number = ?"


def recall_conversation(state: State, id: str, request: RecallRequest) -> RecallResult:
    """Recall from a conversation, including messages it shares with those it was forked from."""
    trouble = update_index(state, id)
    searched = state.engine.read(
        lambda connection: read_conversation(connection, state, id, request.last, request.query)
    )
    people, handles = searched.outline.speaker_counts(), searched.outline.handles()
    question = parse_question(
        request.query, {name for name, _ in people if name}, request.now, handles
    )
    if request.asker is not None:
        question = with_asker(question, request.asker, people)
    vector, reason = vector_of(state, question.embedded_text)

    def work(connection: Connection) -> RecallResult:
        # Not `end`: tool calls and results are never recalled, so they do not count.
        spoken = people.total()
        found = rank_conversation(connection, state, searched, question, vector, request, spoken)
        memories = matching_memories(connection, state, id, question, vector, request)
        names = visible_names(connection, searched) if memories else {}
        hits = [with_name(item, names) for item in memories]
        return pack(connection, request, hits, [found], found.damaged, vector is not None)

    return replace(state.engine.read(work), trouble=trouble or reason)


def visible_names(connection: Connection, searched: SearchedConversation) -> dict[str, str]:
    """Return the names of speakers by id, of those with visible messages."""
    people = searched.outline.speaker_counts().copy()
    for (seq,) in connection.rows(HIDDEN, searched.head.number):
        entry = searched.outline.entry(seq)
        if entry is not None:
            people[entry.speaker, entry.id] -= 1
    return {id: name for (name, id), count in people.items() if id and name and count > 0}


def with_name(item: RecallHit, people: dict[str, str]) -> RecallHit:
    """Return the hit of a memory with the name of its subject as title, if that is known."""
    about = item.memory.about if item.memory else None
    return replace(item, title=people.get(about or "", ""))


def recall_tenant(state: State, request: RecallRequest) -> RecallResult:
    """Recall from the conversations of a tenant that match best."""
    trouble = update_index(state, None)
    question = parse_question(request.query, (), request.now)
    vector, reason = vector_of(state, question.embedded_text)

    def work(connection: Connection) -> RecallResult:
        total = state.index.results.of(connection, search.size_of_tenant, state.tenant)
        found: list[Candidates] = []
        people: dict[str, str] = {}
        memories = matching_memories(connection, state, "", question, vector, request)
        ids, terms, damaged = best_conversations(connection, state, question, vector, total)
        for id in ids:
            searched = read_conversation(connection, state, id, None, request.query)
            title = title_of(connection, searched.head) or id
            searched = replace(searched, title=title, known=terms)
            people |= visible_names(connection, searched) if memories else {}
            names = {name for name, _ in searched.outline.speaker_counts() if name}
            asked = with_speakers(question, names, searched.outline.handles())
            found.append(
                rank_conversation(connection, state, searched, asked, vector, request, total)
            )
        hits = [with_name(item, people) for item in memories]
        return pack(connection, request, hits, found, damaged, vector is not None)

    return replace(state.engine.read(work), trouble=trouble or reason)


def pack(
    connection: Connection,
    request: RecallRequest,
    memories: Sequence[RecallHit],
    found: Sequence[Candidates],
    damaged: search.Damaged,
    has_meaning: bool,
) -> RecallResult:
    """Return the memories and the best candidates that fit the budget.

    Args:
        found: the candidates of each conversation that was searched.
        damaged: gets the candidates that cannot be read.
        has_meaning: whether embeddings were compared.
    """
    packing = Packing(request.budget, request.price, request.limit)
    for item in memories:
        packing.add(item)
    confidence = max((one.confidence for one in found), default=0.0)
    if confidence >= request.min_confidence:
        fill(connection, packing, likely_hits(found, request), request.excerpts, damaged)
    result = packing.result(request.query, request.budget, has_meaning)
    return replace(result, confidence=confidence, changes=losses_of(damaged))


def update_index(state: State, id: str | None) -> str:
    """Update the index; return why its vectors are outdated, or an empty text."""
    try:
        state.index.catch_up(state.tenant, id)
        state.index.catch_up_memories(state.tenant, "", *([] if id is None else [id]))
    except EmbedderError as error:
        state.index.catch_up(state.tenant, id, words_only=True)
        return error.args[0]
    return ""


def vector_of(state: State, text: str) -> tuple[Vectors | None, str]:
    """Return the vector of a question, or None and the reason.

    The reason is empty if the store has no embedder or the question no meaning.
    """
    if state.index.vectors is None or not terms_of(text):
        return None, ""
    try:
        # No transaction may be open here, because an embedder may be remote.
        vector = state.index.vectors.vector_of(text)
        return vector if vector.any() else None, ""
    except EmbedderError as error:
        return None, error.args[0]


def matching_memories(
    connection: Connection,
    state: State,
    scope: str,
    question: Question,
    vector: Vectors | None,
    request: RecallRequest,
) -> list[RecallHit]:
    """Return the visible memories of a scope that fit the question, best first.

    There are none if the request is for messages only.
    """
    if not request.memories:
        return []
    fields: dict[str, Value] = {} if request.about is None else {"about": request.about}
    stored = notes.newest(connection, state.tenant, scope, fields, MAX_RANKED, without="episode")
    visible = [one for one in stored if notes.is_visible(connection, state.tenant, one.memory)]
    near = cosines_of_memories(connection, state, visible, vector)
    found = rank_memories([one.memory for one in visible], question, near)
    return [item for item in found if item.score >= request.min_score]


def cosines_of_memories(
    connection: Connection, state: State, memories: list[StoredMemory], vector: Vectors | None
) -> list[float] | None:
    """Return the cosine of each memory and the question; None if only terms are compared."""
    embedder = state.index.embedder
    if vector is None or embedder is None:
        return None
    return memory_cosines(connection, state.tenant, memories, embedder.name, vector)


def read_conversation(
    connection: Connection, state: State, id: str, last: int | None, query: str = ""
) -> SearchedConversation:
    """Read the head and the outline of a conversation.

    Args:
        last: the last message to search. By default it is the newest, or the one before the
            question if the question is stored already: it contains all terms and answers nothing.
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
    asked = None if last is not None else question_number(connection, found, query)
    if asked is None:
        return found
    outline = state.index.outlines.outline(connection, head, asked - 1, new)
    return replace(found, end=asked - 1, outline=outline)


def question_number(
    connection: Connection, searched: SearchedConversation, query: str
) -> int | None:
    """Return the number of the newest user message, if its text is the question itself."""
    outline = searched.outline
    for number in range(outline.last, max(outline.last - NEWEST_CHECKED, 0), -1):
        entry = outline.entry(number)
        if entry is not None and entry.is_spoken and entry.flags & USER:
            if not entry.flags & ASKS or entry.size != len(" ".join(query.split())):
                return None
            found = read_visible(connection, [(searched, number)]).values()
            is_question = any(spoken_text(one).split() == query.split() for one in found)
            return number if is_question else None
    return None


def title_of(connection: Connection, head: Head) -> str:
    """Return the title of a conversation; empty if there is none."""
    return "".join(title for (title,) in connection.rows(TITLE, head.number) if title)


def rank_conversation(
    connection: Connection,
    state: State,
    searched: SearchedConversation,
    question: Question,
    vector: Vectors | None,
    request: RecallRequest,
    total: int,
) -> Candidates:
    """Return the ranked candidates of a conversation, with the confidence that one is an answer."""
    # Hidden messages are left out first, so that they have no influence on any score.
    hidden = frozenset(seq for (seq,) in connection.rows(HIDDEN, searched.head.number))
    matches, cosines, damaged = find_matches(
        connection, state, searched, question, vector, request.width, hidden
    )
    ranked = rank(
        question,
        matches,
        cosines,
        searched.outline,
        limit=request.width,
        total=total,
        now=request.now,
        ranking=request.ranking,
        allows=request.allows(hidden),
    )
    ranked = without_repeats(connection, searched, ranked)
    total_weight = sum(match.weight for match in matches) or 1.0
    term_shares = {match.term: match.weight / total_weight for match in matches}
    confidence = confidence_of(ranked, matches, question)
    return Candidates(searched, ranked, term_shares, question.variants, confidence, damaged)


def likely_hits(found: Sequence[Candidates], request: RecallRequest) -> list[Candidates]:
    """Return the candidates with those of all conversations as rivals, without unlikely ones."""
    rivals = rivals_log_odds(some.ranked for some in found)
    offered: list[Candidates] = []
    for some in found:
        ranked = without_filler(some.ranked)
        if request.min_score:
            least = request.min_score
            ranked = [one for one in ranked if replace(one, rivals=rivals).score >= least]
        offered.append(replace(some, ranked=ranked, rivals=rivals))
    return offered


def find_matches(
    connection: Connection,
    state: State,
    searched: SearchedConversation,
    question: Question,
    vector: Vectors | None,
    width: int,
    hidden: frozenset[int],
) -> tuple[list[TermMatches], dict[int, float] | None, search.Damaged]:
    """Return the postings of a question's terms, the cosines of the nearest messages, and damage.

    The cosines are None if only terms are compared.
    """
    head, end = searched.head, searched.end
    numbers = search.postings_in_conversation(
        connection, head, end, searched.behind, searched.known
    )
    damaged = search.damaged_in(connection, searched.id, head, numbers(DAMAGED))
    found = matches_of(question, search.with_variants(numbers, question.variants), end, hidden)
    if vector is None or state.index.vectors is None:
        return found, None, damaged
    asks = not question.is_remark
    near = state.index.vectors.nearest(
        connection, head, vector, width * VECTOR_FACTOR, asks=asks, last=end
    )
    return found, {seq: cosine for (_, seq), cosine in near}, damaged


def matches_of(
    question: Question, numbers_of: Callable[[str], list[int]], end: int, hidden: frozenset[int]
) -> list[TermMatches]:
    """Return the terms of a question with their weights and postings.

    Args:
        end: the number of the last message that is searched.
    """
    common = question.common_terms if end <= MAX_FOR_COMMON_TERMS else ()
    found: list[TermMatches] = []
    for terms, counts in ((question.terms, 1.0), (common, COMMON_TERM_WEIGHT)):
        for term in terms:
            numbers = frozenset(numbers_of(term))
            numbers = numbers - hidden if hidden else numbers
            weight = search.inverse_document_frequency(len(numbers), max(end, 1)) * counts
            found.append(TermMatches(term, weight, numbers))
    for some in question.compound_parts:
        numbers = frozenset(seq for part in some for seq in numbers_of(part)) - hidden
        if numbers:
            weight = (
                search.inverse_document_frequency(len(numbers), max(end, 1)) * COMPOUND_PART_WEIGHT
            )
            found.append(TermMatches(some[0], weight, numbers))
    return found


def best_conversations(
    connection: Connection, state: State, question: Question, vector: Vectors | None, total: int
) -> tuple[list[str], search.TermPostings, search.Damaged]:
    """Return the ids of the conversations with the best messages, by terms or by embedding.

    With them come the postings of the terms and the damaged messages, so that they are read once.

    Args:
        total: the number of the tenant's messages.
    """
    gaps = state.index.results.of(connection, gaps_of, state.tenant)
    keys = search.postings_in_tenant(connection, state.tenant, gaps)
    damaged = search.damaged_of_tenant(connection, state.tenant, keys)
    with_bare = search.with_variants(keys, question.variants)
    terms = search.weigh_terms(question.terms, max(total, 1), with_bare)
    near: Nearest = []
    if vector is not None and state.index.vectors is not None:
        near = state.index.vectors.nearest_of_tenant(connection, state.tenant, vector, MAX_NEAREST)
    best: dict[int, None] = {}
    tried: Counter[int] = Counter()
    # Alternate, so that neither terms nor embeddings decide alone.
    by_words = (place for place, _ in search.rank_postings(terms))
    tries = 0
    for place in interleave(by_words, (place for place, _ in near)):
        number = place[0]
        if number in best or tried[number] >= MAX_TRIES // MAX_CONVERSATIONS:
            continue
        tries, tried[number] = tries + 1, tried[number] + 1
        if is_recallable(connection, place):
            best[number] = None
        if len(best) >= MAX_CONVERSATIONS or tries >= MAX_TRIES:
            break
    rows = (connection.rows(NAMES, state.tenant, number) for number in best)
    ids = [id for found in rows for (id,) in found]
    return ids, search.complete_postings(terms), damaged


def is_recallable(connection: Connection, place: Place) -> bool:
    """Whether a message is spoken, and not hidden in the conversation it was written in.

    A damaged one may be spoken. The search of its conversation reports it.
    """
    message = search.visible_message(connection, place[0], place)
    return message is not None and (STAND_IN in message.meta or is_spoken(message))
