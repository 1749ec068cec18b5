"""`cw simulate` and `cw recipes`: what they print, where, and exit codes."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pytest

from commands import Run, only_line
from contextwright.cli.requests import plot
from contextwright.context import recipe_files as recipes
from contextwright.context.simulation.prompt_cache import Charge
from contextwright.context.simulation.simulate import Request, Row
from contextwright.errors import ContextwrightError
from contextwright.models import find
from contextwright.windows.policies import BuiltIn
from paths import DOCS
from samples.commands import ARGUMENTS, CHAT, TRAIN

# Simulating


def test_simulate(cw: Run) -> None:
    code, out, err = cw("simulate", "-", *ARGUMENTS, "--budget", "200", input=CHAT)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        "recipe requests refused invalid over lost tokens sent fill in prefix uncached breaks "
        "input price".split(),
        ["default", "2", "0", "0", "0", "0", "55", "13.8%", "30.9%", "38", "0", "$0.000138"],
    ]


def test_simulate_recipes_side_by_side_as_json(cw: Run) -> None:
    arguments = ("--budget", "300", "-r", "default", "-r", "forge", "--json")
    code, out, _ = cw("simulate", TRAIN, *ARGUMENTS, *arguments)
    rows = json.loads(out)
    assert code == 0
    assert [row["recipe"] for row in rows] == ["default", "forge"]
    for row in rows:
        assert len(row["each"]) == row["requests"] == 14
        assert sum(each["tokens"] for each in row["each"]) == row["sent"]
        assert row["refused"] == row["invalid"] == row["over_budget"] == row["lost_questions"] == 0
    assert rows[0]["share"] > rows[1]["share"]


def test_simulate_lines_are_added_up(cw: Run) -> None:
    lines = b"\n".join([json.dumps(CHAT).encode(), b"{", json.dumps(CHAT).encode()])
    code, out, err = cw("simulate", "-", *ARGUMENTS, "--jsonl", "--json", input=lines)
    assert code == 1
    assert json.loads(out)[0]["sent"] == 2 * 55
    assert err.splitlines()[0].startswith("cw: line 2: ")
    assert err.splitlines()[1] == "cw: 1 line failed"


def test_simulate_holds_a_policy_in_ci(cw: Run) -> None:
    assert cw("simulate", "-", *ARGUMENTS, "--min-cached", "30", input=CHAT).code == 0
    code, _, err = cw("simulate", "-", *ARGUMENTS, "--min-cached", "31", input=CHAT)
    assert code == 1
    assert only_line(err) == "cw: default: 30.9% cached, the minimum is 31%"


def test_simulate_says_what_could_not_be_sent(cw: Run) -> None:
    code, out, err = cw("simulate", "-", *ARGUMENTS, "--budget", "10", input=CHAT)
    assert code == 1
    assert out.splitlines()[1].split()[:3] == ["default", "2", "2"]
    assert only_line(err) == "cw: default: 2 refused"


@pytest.mark.parametrize(
    ("arguments", "data", "earlier"),
    [
        ([], {"messages": []}, []),
        (["--jsonl"], b"", []),
        (["--jsonl"], b"x\n", ["cw: line 1: unexpected 'x' at column 1 (expected a value)"]),
    ],
)
def test_simulate_nothing(
    cw: Run, arguments: list[str], data: dict[str, Any] | bytes, earlier: list[str]
) -> None:
    code, out, err = cw("simulate", "-", *ARGUMENTS, *arguments, input=data)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        *earlier,
        "cw: standard input: there is no request to replay"
        " (a request is everything before a reply)",
    ]


def test_simulate_draws(cw: Run, tmp_path: Path) -> None:
    target = tmp_path / "run.svg"
    recipe = tmp_path / "a<b&.toml"
    recipe.write_text("note = false\n")
    arguments = ("--budget", "300", "-r", "default", "-r", str(recipe), "--plot", str(target))
    assert cw("simulate", TRAIN, *ARGUMENTS, *arguments).code == 0
    drawing = ElementTree.fromstring(target.read_text("utf-8"))
    words = [element.text or "" for element in drawing.iter() if element.tag.endswith("text")]
    assert words[0] == "Tokens of each request, gpt-4o"
    assert any(word.startswith("a<b&: ") for word in words)
    assert words.count("14 requests") == words.count("budget") == 2
    paths = [element for element in drawing.iter() if element.tag.endswith("path")]
    assert len(paths) == 4, "two areas a recipe"
    assert cw("simulate", TRAIN, *ARGUMENTS, "--plot", "run.png").code == 2


@pytest.mark.parametrize(
    ("most", "expected"), [(0, 1), (1, 1), (3, 5), (10, 10), (11, 20), (999, 1000), (5001, 10000)]
)
def test_scales_are_round(most: int, expected: int) -> None:
    assert plot.nice(most) == expected


def test_a_drawing_of_nothing_is_one() -> None:
    rows = [Row("none", ()), Row("one", (Request(1, 10, 100, 0, Charge(0, 0, 10), None),))]
    ElementTree.fromstring(plot.plot(rows, model=find("nobody-knows"), budget=None))


# Recipes


def test_recipes_are_listed(cw: Run) -> None:
    code, out, _ = cw("recipes")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(recipes.SHIPPED)
    listed = json.loads(cw("recipes", "--json").out)
    assert [row["name"] for row in listed] == list(recipes.SHIPPED)
    assert all(row["title"] for row in listed)


@pytest.mark.parametrize("name", recipes.SHIPPED)
def test_a_recipe_can_be_printed_and_used(cw: Run, tmp_path: Path, name: str) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(cw("recipes", name).out)
    found, copy = recipes.find(name), recipes.find(str(mine))
    assert copy.name == "mine"
    assert (copy.window, copy.note, copy.system, copy.budget) == (
        found.window,
        found.note,
        found.system,
        found.budget,
    )
    assert cw("recipes", str(mine)).out == mine.read_text()
    as_json = tmp_path / "mine.json"
    as_json.write_text(cw("recipes", name, "--json").out)
    assert recipes.find(str(as_json)) == copy
    assert cw("recipes", str(as_json), "--json").out == as_json.read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("budget = 'much'", "budget cannot be 'much' (a whole number)"),
        ("windows = 1", "the document has no field 'windows' (known: title, system,"),
        (
            "[window]\ntype = 'round'",
            "window.type cannot be 'round' (keep-all, keep-recent, stepped,",
        ),
        ("[window]\nstep = 1", "window lacks the field 'type' (known: keep-all,"),
        (
            "[window]\ntype = 'keep-all'\nstep = 1",
            "window has no field 'step' (see",
        ),
        ("placement = 'above'", "placement cannot be 'above' (volatility or system)"),
        ("[[system]]\ntype = 'current-time'\nzone = 'Kyiv'", "unknown time zone 'Kyiv'"),
        ("system = [5]", "system[0] cannot be 5 (text or an object)"),
        ("budget = ", "mine.toml: "),
        ("budget = 0", "budget cannot be 0 (1 to 1,000,000,000,000 tokens)"),
        ("answer = 0", "answer cannot be 0 (1 to 1,000,000,000,000 tokens)"),
        (
            "[window]\ntype = 'keep-recent'\nmessages = -2",
            "window.messages cannot be -2",
        ),
        ("[clearing]\nresults = -1", "clearing.results cannot be -1 (at least 0)"),
        (
            "[clearing]\nresult = 1",
            "clearing has no field 'result' (known: results,",
        ),
        ("[options]\nthinkng = 'drop'", "no such option: 'thinkng' (options: repair, "),
        (
            "[[system]]\ntype = 'clock'",
            "system[0].type cannot be 'clock' (text, instructions,",
        ),
    ],
)
def test_a_recipe_with_a_mistake(cw: Run, tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    for arguments in (("recipes", str(file)), ("build", "-", *ARGUMENTS, "-r", str(file))):
        code, out, err = cw(*arguments, input=CHAT)
        assert (code, out) == (1, "")
        assert expected in only_line(err)
    with pytest.raises(ContextwrightError):
        recipes.load(file)


def test_a_recipe_in_broken_json(cw: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("{")
    code, out, err = cw("recipes", str(file))
    assert (code, out) == (1, "")
    assert only_line(err).startswith(f"cw: {file}: ")


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", 'title = "Mine"'), ("a.json", '{"title": "Mine"}')]
)
def test_a_byte_order_mark_is_not_printed(cw: Run, tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, "utf-8-sig")
    assert cw("recipes", str(file)).out == f"{text}\n"
    assert json.loads(cw("recipes", str(file), "--json").out) == {"title": "Mine"}


def test_the_guide_to_recipes_is_true() -> None:
    guide = (DOCS / "recipes.md").read_text("utf-8")
    [example] = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    assert recipes.read(tomllib.loads(example)).budget == 8_000
    fields = guide.split("## Fields")[1].split("## Sections")[0]
    assert re.findall(r"^\| `(\w+)` ", fields, re.MULTILINE) == list(
        recipes.RecipeFile.__struct_fields__
    )
    listed = guide.split("## Windows")[1].split("## Why")[0]
    kinds = {window.__struct_config__.tag for window in get_args(BuiltIn)}
    assert {*re.findall(r"^\| `([\w-]+)` ", listed, re.MULTILINE)} == {"type", *kinds}


# Port 42's agents

AGENTS = {"agents": {"engineer": {"prompt": "You are @ai-engineer."}, "muse": {"prompt": "Sing."}}}

SESSION = {
    "id": "s1",
    "agent": "@ai-engineer",
    "messages": [{"role": "user", "content": "Hello", "timestamp": "2025-07-20T12:00:00Z"}],
}


def test_build_with_an_agents_instructions(cw: Run, tmp_path: Path) -> None:
    """Of a session file and of a stored session: the session's own agent, or one that is named."""
    agents, session = tmp_path / "agents.json", tmp_path / "session.json"
    agents.write_text(json.dumps(AGENTS))
    session.write_text(json.dumps(SESSION))
    store = ("--store", str(tmp_path / "s.db"))
    assert cw("import", str(session), *store).code == 0
    options = ("--recipe", "port42", "--agents", str(agents), "--model", "claude-sonnet-5-5")
    for arguments in ((str(session),), ("s1", *store)):
        payload = json.loads(cw("build", *arguments, *options).out)
        assert payload["system"][0]["text"] == "You are @ai-engineer."
        assert payload["max_tokens"] == 4096
        outcome = cw("build", *arguments, *options, "--agent", "muse", "--max-output-tokens", "9")
        payload = json.loads(outcome.out)
        assert (payload["system"][0]["text"], payload["max_tokens"]) == ("Sing.", 9)
        assert "loss.setting" not in outcome.err
        outcome = cw("build", *arguments, *options, "--agent", "@nobody", "--changes")
        assert "invent.agent" in outcome.err
        outcome = cw("build", *arguments, *options, "--agent", "")
        assert (outcome.code, outcome.out) == (2, "")
        outcome = cw("build", *arguments, *options[:2], *options[4:], "--changes")
        assert "loss.instructions" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--agent", "muse", "--recipe", "port42"), "name agents.json with --agents"),
        (("--agents", "agents.json"), "add --recipe port42"),
        (("--agents", "missing.json", "--recipe", "port42"), "missing.json"),
    ],
)
def test_agents_that_cannot_be_used(cw: Run, arguments: tuple[str, ...], error: str) -> None:
    outcome = cw("build", "-", *ARGUMENTS, *arguments, input=CHAT)
    assert (outcome.code, error in outcome.err) == (2, True)
