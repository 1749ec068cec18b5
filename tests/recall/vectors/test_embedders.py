"""Embedders: wordllama as its own library has it, checked answers, providers' own clients."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy
import openai
import pytest
from google import genai
from hypothesis import example, given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.vectors.choose import choose_embedder
from contextwright.recall.vectors.chunks import CHUNK_CHARS, MAX_CHUNKS, WORD, chunks_of
from samples.recall import TO_EMBED

LIBRARY = """
import json, pathlib, sys
import numpy, wordllama
folder = pathlib.Path(wordllama.__file__).parent
model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
numpy.save(sys.argv[1], model.embed(json.load(sys.stdin), norm=True))
"""


@pytest.fixture(scope="module")
def wordllama() -> cw.recall.Embedder:
    embedder = choose_embedder("wordllama")
    assert embedder is not None
    return embedder


# --- wordllama -----------------------------------------------------------------------------------


def test_wordllama_gives_what_its_own_library_gives(
    tmp_path: Path, wordllama: cw.recall.Embedder
) -> None:
    """The library in a process of its own: importing it sets up logging, and more."""
    file = tmp_path / "vectors.npy"
    subprocess.run(
        [sys.executable, "-c", LIBRARY, str(file)],
        input=json.dumps(TO_EMBED),
        text=True,
        check=True,
        capture_output=True,
    )
    ours = wordllama(TO_EMBED)
    assert (ours.shape, ours.dtype, wordllama.name) == ((7, 256), "float32", "wordllama-256")
    assert numpy.abs(ours - numpy.load(file)).max() < 1e-6


def test_a_text_has_the_same_vector_in_any_company(wordllama: cw.recall.Embedder) -> None:
    together = wordllama(TO_EMBED * 50)
    alone = numpy.concatenate([wordllama([text]) for text in TO_EMBED])
    assert (together == numpy.tile(alone, (50, 1))).all()
    assert wordllama([]).shape == (0, 256)


def test_every_word_of_a_long_text_counts(wordllama: cw.recall.Embedder) -> None:
    long = "The weather is fine today. " * 20_000
    plain, ended, begun = wordllama([long, long + "dog " * 9_000, "dog " * 9_000 + long])
    (dog,) = wordllama(["dog " * 9_000])
    assert plain @ dog < 0.5
    assert ended @ dog > plain @ dog + 0.01
    assert begun @ dog > plain @ dog + 0.01


def test_texts_that_say_nothing(wordllama: cw.recall.Embedder) -> None:
    empty, torn = wordllama(["", "half a pair: \ud83d"])
    assert not empty.any()
    assert torn.any()


# --- what an embedder is -------------------------------------------------------------------------


def answering(answer: Any) -> cw.recall.Embedder:
    return cw.recall.Embedder("test", lambda texts: answer)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ([[1.0, 2.0]], r"an array of shape \(1, 2\) for 2 texts"),
        ([[1.0], [2.0], [3.0]], r"an array of shape \(3, 1\) for 2 texts"),
        ([1.0, 2.0], r"an array of shape \(2,\) for 2 texts"),
        ([[], []], r"an array of shape \(2, 0\) for 2 texts"),
        ([[1.0], [2.0, 3.0]], "something other than rows of numbers"),
        ([["a"], ["b"]], "something other than rows of numbers"),
        (None, r"an array of shape \(\) for 2 texts"),
        ([[1.0, float("nan")], [1.0, 1.0]], "numbers that are not finite"),
        ([[1.0, 1e300], [1.0, 1.0]], "numbers that are not finite"),
        ([[1.0, 10**400], [1.0, 1.0]], "something other than rows of numbers"),
        ([[1.0, None], [1.0, 1.0]], "numbers that are not finite"),
    ],
)
def test_wrong_answers_are_refused(answer: Any, problem: str) -> None:
    with pytest.raises(cw.UsageError, match=f"the embedder 'test' gave ({problem})"):
        answering(answer)(["a", "b"])


def test_an_answer_that_is_refused_fixes_no_width() -> None:
    answers = iter(([[float("nan")] * 2], [[1.0] * 3]))
    embedder = cw.recall.Embedder("test", lambda texts: next(answers))
    with pytest.raises(cw.UsageError, match="not finite"):
        embedder(["a"])
    assert embedder([]).shape == (0, 0)
    assert embedder(["a"]).shape == (1, 3)
    assert embedder([]).shape == (0, 3)


def test_vectors_may_not_change_their_width() -> None:
    widths = iter((3, 3, 4))
    embedder = cw.recall.Embedder("test", lambda texts: [[1.0] * next(widths)], batch=1)
    with pytest.raises(cw.UsageError, match="gave vectors of 4 numbers, after 3 before"):
        embedder(["a", "b", "c"])


def test_vectors_have_length_1_and_calls_their_size() -> None:
    calls: list[list[str]] = []

    def function(texts: Sequence[str]) -> list[list[int]]:
        calls.append([*texts])
        return [[len(text), 0, 4] for text in texts]

    embedder = cw.recall.Embedder("test", function, batch=2)
    assert embedder(["aaa", "", "aaa"]).tolist() == pytest.approx(
        numpy.array([[0.6, 0, 0.8], [0, 0, 1], [0.6, 0, 0.8]])
    )
    assert calls == [["aaa", ""], ["aaa"]]
    assert answering([[0, 0]])(["a"]).tolist() == [[0, 0]]


@pytest.mark.parametrize("name", ["", "a\nb", "a\x00", "x" * 257])
def test_names_that_nothing_can_be_kept_by(name: str) -> None:
    with pytest.raises(cw.UsageError, match="is not a valid embedder name"):
        cw.recall.Embedder(name, lambda texts: [])


def test_which_embedder_is_meant() -> None:
    mine = answering(None)
    assert choose_embedder(None) is None
    assert choose_embedder(mine) is mine
    found = choose_embedder("auto")
    assert found is not None
    assert found.name == "use-multilingual-3-v3"
    with pytest.raises(cw.UsageError, match="'minilm' is not a known embedder"):
        choose_embedder("minilm")  # pyright: ignore[reportArgumentType]
    with pytest.raises(cw.UsageError, match="at least one text"):
        cw.recall.Embedder("a", lambda texts: [], batch=0)


# --- pieces of long texts ------------------------------------------------------------------------


@example("One" + "-" * 5 * CHUNK_CHARS + "two")
@given(
    st.lists(st.sampled_from(("word ", "Sentence. ", "\n\n", "長い", "!" * 400, "x" * 900)))
    .map(lambda parts: "".join(parts) * 40)
    .filter(lambda text: WORD.search(text))
)
def test_pieces_are_the_text(text: str) -> None:
    chunks = chunks_of(text)
    place, lost = 0, ""
    for chunk in chunks:
        found = text.index(chunk, place)
        lost += text[place:found]
        place = found + len(chunk)
    assert not WORD.search(lost + text[place:])
    assert all(map(WORD.search, chunks))
    assert len(chunks) <= MAX_CHUNKS
    assert max(map(len, chunks)) <= 1.25 * max(CHUNK_CHARS, len(text) / MAX_CHUNKS) + 2


def test_pieces_end_where_sentences_end() -> None:
    assert chunks_of("short") == ["short"]
    assert chunks_of(" 🙂 !? ") == []
    chunks = chunks_of("One two three four. " * 200)
    assert len(chunks) == 4
    assert all(chunk.endswith(". ") for chunk in chunks)
    assert [len(chunk) for chunk in chunks_of("x" * 100_000)] == [6_250] * 16
    # At most a quarter of a piece is cut off.
    near, far = ("x" * place + "。" + "x" * (1_999 - place) for place in (750, 749))
    assert [len(chunk) for chunk in chunks_of(near)] == [751, 1_249]
    assert [len(chunk) for chunk in chunks_of(far)] == [1_000, 1_000]


# --- providers -----------------------------------------------------------------------------------

Answers = Callable[[str, dict[str, Any]], Any]


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.0]


def as_provider(path: str, body: dict[str, Any]) -> Any:
    """What OpenAI and Google answer."""
    if path.endswith("/embeddings"):
        vectors = [vector_of(text) for text in body["input"]]
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "model": body["model"], "data": data[::-1], "usage": usage}
    assert path.endswith(":batchEmbedContents")
    said = ["".join(part["text"] for part in one["content"]["parts"]) for one in body["requests"]]
    return {"embeddings": [{"values": vector_of(text)} for text in said]}


class Provider(BaseHTTPRequestHandler):
    bodies: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.bodies.append(body)
        answer = json.dumps(as_provider(self.path.partition("?")[0], body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A loopback server: its address, and the bodies it received."""
    bodies: list[dict[str, Any]] = []
    with HTTPServer(("127.0.0.1", 0), type("Handler", (Provider,), {"bodies": bodies})) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", bodies
        server.shutdown()
        thread.join()


SAID = ["aaaa", "b", "Дякую 🙂"]
EXPECTED = numpy.array([vector_of(text) for text in SAID])
EXPECTED /= numpy.linalg.norm(EXPECTED, axis=1, keepdims=True)


@pytest.mark.parametrize("dimensions", [None, 3])
def test_openai_by_its_own_client(
    provider: tuple[str, list[dict[str, Any]]], dimensions: int | None
) -> None:
    address, bodies = provider
    with openai.OpenAI(base_url=address, api_key="none") as client:
        embedder = cw.recall.openai_embedder(
            client, "text-embedding-3-small", dimensions=dimensions
        )
        assert embedder(SAID) == pytest.approx(EXPECTED)
    assert embedder.name == "text-embedding-3-small" + ("" if dimensions is None else "-3")
    assert (bodies[0]["input"], bodies[0].get("dimensions")) == (SAID, dimensions)


@pytest.mark.parametrize("model", ["gemini-embedding-001", "gemini-embedding-2"])
@pytest.mark.parametrize("dimensions", [None, 3])
def test_gemini_by_its_own_client(
    provider: tuple[str, list[dict[str, Any]]], model: str, dimensions: int | None
) -> None:
    address, bodies = provider
    client = genai.Client(api_key="none", http_options={"base_url": address})
    try:
        embedder = cw.recall.gemini_embedder(client, model, dimensions=dimensions)
        assert embedder(SAID) == pytest.approx(EXPECTED)
    finally:
        client.close()
    sizes = {one.get("outputDimensionality") for one in bodies[0]["requests"]}
    assert sizes == {dimensions}


# --- without the extra ---------------------------------------------------------------------------

WITHOUT = """
import sys
for name in ("numpy", "tokenizers", "safetensors", "wordllama"):
    sys.modules[name] = None
import contextwright as cw
from contextwright.recall.vectors.choose import choose_embedder
assert choose_embedder("auto") is None
for given in ("wordllama", cw.recall.Embedder("mine", lambda texts: [])):
    try:
        choose_embedder(given)
    except cw.errors.MissingExtra as error:
        assert "pip install 'contextwright[vectors]'" in str(error)
    else:
        raise AssertionError(given)
"""


def test_without_the_extra_there_are_no_vectors() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "function", "batch"),
    [(None, len, 64), (7, len, 64), ("a", 5, 64), ("a", len, "x"), ("a", len, 0)],
)
def test_what_is_no_embedder_is_refused(name: Any, function: Any, batch: Any) -> None:
    with pytest.raises(cw.UsageError):
        cw.recall.Embedder(name, function, batch=batch)


@pytest.mark.parametrize("wrong", [{"half_life": "x"}, {"senders": {}}, {"recency": None}])
def test_what_ranks_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(cw.UsageError, match="invalid ranking"):
        cw.recall.Ranking(**wrong)
