"""Retrieval without a database: memories, ranking, episodes, embedders."""

from typing import TYPE_CHECKING

from contextwright.lazy import lazily

if TYPE_CHECKING:
    from contextwright.recall.episodes.boundaries import EpisodeRules as EpisodeRules
    from contextwright.recall.episodes.episode import Episode as Episode
    from contextwright.recall.episodes.episode import find_episodes as find_episodes
    from contextwright.recall.episodes.refine import EpisodeDetails as EpisodeDetails
    from contextwright.recall.memories import Memory as Memory
    from contextwright.recall.memories import MemoryQuery as MemoryQuery
    from contextwright.recall.memories import MemorySource as MemorySource
    from contextwright.recall.memories import Ranking as Ranking
    from contextwright.recall.memory_list import MemoryList as MemoryList
    from contextwright.recall.packing import RecallHit as RecallHit
    from contextwright.recall.packing import RecallResult as RecallResult
    from contextwright.recall.passages import Excerpt as Excerpt
    from contextwright.recall.vectors.embedder import Embedder as Embedder
    from contextwright.recall.vectors.providers import gemini_embedder as gemini_embedder
    from contextwright.recall.vectors.providers import openai_embedder as openai_embedder
else:
    __all__, __getattr__, __dir__ = lazily(
        __name__,
        {
            "contextwright.recall.episodes.boundaries": "EpisodeRules",
            "contextwright.recall.episodes.episode": "Episode find_episodes",
            "contextwright.recall.episodes.refine": "EpisodeDetails",
            "contextwright.recall.memories": "Memory MemoryQuery MemorySource Ranking",
            "contextwright.recall.memory_list": "MemoryList",
            "contextwright.recall.packing": "RecallHit RecallResult",
            "contextwright.recall.passages": "Excerpt",
            "contextwright.recall.vectors.embedder": "Embedder",
            "contextwright.recall.vectors.providers": "gemini_embedder openai_embedder",
        },
    )
