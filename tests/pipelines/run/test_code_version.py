"""A stage's key follows the code that computes its bundle, and nothing else."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from artifacts.bundle_store import BundleStore
from pipelines.blueprint import pipeline
from pipelines.config.composition import compose_config
from pipelines.config.schema import Config
from pipelines.matches import hands
from pipelines.reports import flop_batch
from pipelines.run import code_version as cv
from pipelines.run.engine import Planner
from pipelines.stages import dcfr, evaluate, flops, lcfr, three_way_equity
from pipelines.training.evaluation_boards import TIERS, Tier

ABSTRACTION = ("flops", "preflop_equity", "textures", "buckets", "bucket_equity")
STAGES = [*ABSTRACTION, "lcfr", "dcfr", "preflop_ev", "evaluate", "export"]


def reached_modules(function: Callable[..., Any]) -> set[str]:
    return {module for module, _ in cv.reached_symbols(function)}


def test_the_flops_stage_depends_on_the_cards_and_not_on_the_engine() -> None:
    modules = reached_modules(flops.compute)
    assert {"pipelines.stages.flops", "abstractions.cards", "abstractions.isomorphism"} <= modules
    assert not modules & {
        "pipelines.run.engine",
        "pipelines.run.tracking",
        "pipelines.blueprint",
        "artifacts.bundle",
    }


@pytest.mark.parametrize("stage", [lcfr, dcfr])
def test_the_training_stages_depend_on_the_whole_trainer(stage: Any) -> None:
    reached = cv.reached_symbols(stage.compute)
    assert {
        ("abstractions.buckets", "board_buckets"),
        ("pipelines.config.training", "PhaseConfig"),
        ("pipelines.training.trace", "best_of"),
        ("solver.blueprint.boards", "BatchBuckets"),
        ("solver.blueprint.boards", "BoardSampler"),
        ("solver.blueprint.boards", "street_buckets"),
        ("solver.blueprint.flop_values", "FlopEvaluator"),
        ("solver.blueprint.evaluation", "mean_gain"),
        ("solver.blueprint.sweep", "_sweep_board"),
        ("solver.blueprint.plan", "LanePlan"),
        ("solver.blueprint.pot_types", "pot_types"),
        ("solver.blueprint.shard", "Shard"),
        ("solver.blueprint.tables", "TableLayout"),
        ("solver.blueprint.terminals", "_terminals"),
        ("solver.blueprint.trainer", "BlueprintTrainer"),
        ("solver.blueprint.trunk", "Trunk"),
        ("solver.cfr.epochs", "EpochClock"),
        ("solver.cfr.schedules", "schedule"),
        ("solver.cfr.simd", cv.STATEMENTS),  # they give vectors their operators
    } <= reached
    assert not {module for module, _ in reached} & {*cv.TRANSPORT, *cv.CARRIERS}


def test_kept_hands_depend_on_players_values_and_solver_and_kept_flops_on_the_blueprints_answer() -> None:
    players = {("solver.match.players", "BlueprintPlayer"), ("solver.match.players", "ResolvingPlayer")}
    deals = {("solver.match.play", "draw_deal"), ("solver.match.table", "Table")}
    for play in (hands.play_match, hands.play_lbr):
        reached = cv.reached_symbols(play)
        assert players | deals | {("solver.subgame.translation", "pseudo_harmonic")} <= reached
        assert not {module for module, _ in reached} & {
            "pipelines.matches.batch",
            "pipelines.match",
            "pipelines.lbr",
        }
    assert ("solver.match.board_values", "BoardValues") in cv.reached_symbols(hands.play_match)
    assert ("solver.match.local_best_response", "_add_showdowns") in cv.reached_symbols(hands.play_lbr)
    solved = cv.reached_symbols(flop_batch._solved)
    assert ("solver.postflop.solver", "PostflopSolver") in solved
    assert ("pipelines.reports.flop_spots", "blueprint_row") in cv.reached_symbols(flop_batch._answer)
    assert not {module for module, _ in solved} & {"pipelines.reports.flop_page", "pipelines.reports.page"}


def test_three_way_equities_depend_on_their_kernel_and_not_on_what_saves_them() -> None:
    reached = cv.reached_symbols(three_way_equity.compute)
    assert {
        ("abstractions.three_way", "_count_three_way"),
        ("abstractions.evaluator", "_sorted_board"),
    } <= reached
    assert not {module for module, _ in reached} & {*cv.TRANSPORT, *cv.CARRIERS}


def test_stages_draw_nothing() -> None:
    folder = Path(flops.__file__).parent
    for path in (*folder.glob("*.py"), *(folder.parent / "training").glob("*.py")):
        text = path.read_text()
        assert "matplotlib" not in text, path
        assert "pipelines.figures" not in text, path


def test_transport_and_carriers_are_modules_of_the_project() -> None:
    for name in (*cv.TRANSPORT, *cv.CARRIERS):
        assert importlib.util.find_spec(name) is not None, name


# The keys of whole pipelines, over a copy of the project that is edited.


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = Path(cv.__file__).parents[2]
    copy = tmp_path_factory.mktemp("project")
    for path in (path for package in cv.PACKAGES for path in (root / package).rglob("*.py")):
        target = copy / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return copy


@cache
def composed(*overrides: str) -> Config:
    return compose_config(list(overrides))


@pytest.fixture
def keys(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """Key of each stage of a run, as planned with the code in the copy."""

    def plan(*overrides: str) -> dict[str, str]:
        monkeypatch.setattr(cv, "PROJECT", cv.Sources(project))
        planner = Planner(BundleStore(tmp_path), 2)
        pipeline(composed("+preset=smoke", *overrides), planner)
        return {row.stage: row.key for row in planner.rows}

    return plan


@pytest.fixture
def edit(project: Path) -> Iterator[Callable[[str, Callable[[str], str]], None]]:
    """Edit a file of the copy for the time of a test."""
    before: dict[Path, str] = {}

    def change(file: str, how: Callable[[str], str]) -> None:
        path = project / file
        before[path] = path.read_text()
        path.write_text(how(before[path]))
        assert path.read_text() != before[path]

    yield change
    for path, text in before.items():
        path.write_text(text)


def definition(text: str, name: str) -> ast.FunctionDef:
    found = [node for node in ast.walk(ast.parse(text)) if getattr(node, "name", None) == name]
    assert isinstance(found[0], ast.FunctionDef), name
    return found[0]


def with_line(name: str, line: str) -> Callable[[str], str]:
    """Put a line before a function's first statement that is no docstring."""

    def how(text: str) -> str:
        node = definition(text, name)
        first = node.body[1] if ast.get_docstring(node) else node.body[0]
        decorators = getattr(first, "decorator_list", [])
        number = min(part.lineno for part in (first, *decorators))
        lines = text.splitlines()
        lines.insert(number - 1, " " * first.col_offset + line)
        return "\n".join(lines) + "\n"

    return how


def with_docstring(name: str) -> Callable[[str], str]:
    def how(text: str) -> str:
        node = definition(text, name)
        docstring = ast.get_docstring(node, clean=False)
        assert docstring is not None
        return text.replace(docstring, "Said in other words.")

    return how


def with_text(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


CHANGED = "changed_by_a_test = 1"


@pytest.mark.parametrize(
    ("file", "how"),
    [
        ("pipelines/figures/textures.py", with_text("first principal component", "x")),
        ("pipelines/figures/trace.py", with_text("exploitability (mbb/hand)", "loss")),
        ("pipelines/figures/evaluate.py", with_line("_loss_figure", CHANGED)),
        ("pipelines/figures/charts.py", with_line("chart_figure", CHANGED)),
        ("pipelines/stages/textures.py", with_docstring("compute")),
        ("solver/blueprint/node_kernels.py", with_docstring("_prune")),
        ("solver/blueprint/node_kernels.py", with_line("_prune", "# A comment.")),
        ("abstractions/cards.py", lambda text: "# A comment.\n\n" + text),
        ("abstractions/ranges.py", with_line("parse_range", CHANGED)),
        ("abstractions/equity.py", with_line("equity", CHANGED)),
        ("artifacts/bundle.py", with_line("open_bundle", CHANGED)),
        ("artifacts/preflop_offpath.py", with_line("strategy_table", CHANGED)),
        ("pipelines/blueprint.py", with_line("run_pipeline", CHANGED)),
        ("pipelines/run/engine.py", with_line("stage_key", CHANGED)),
        ("artifacts/readers.py", with_line("read_exported_blueprint", CHANGED)),
        ("pipelines/training/checkpoints.py", with_line("save", CHANGED)),
        ("pipelines/training/fleet.py", with_line("neighbours", CHANGED)),
        ("pipelines/training/hosts.py", with_line("spread", CHANGED)),
        ("pipelines/training/tier_flops.py", with_text("2d5h6s", "2d5h7s")),
        ("solver/postflop/spot.py", with_line("solve_spot", CHANGED)),
        ("solver/exact/sweep.py", with_line("_descend", CHANGED)),
    ],
)
def test_what_computes_no_bytes_changes_no_key(
    keys: Callable[..., dict[str, str]], edit: Callable[..., None], file: str, how: Callable[[str], str]
) -> None:
    before = keys()
    assert list(before) == STAGES
    edit(file, how)
    assert keys() == before


TRAINED = {"lcfr", "dcfr", "evaluate", "preflop_ev", "export"}
AFTER_TEXTURES = {"textures", "buckets", "bucket_equity", *TRAINED}
MEASURING = {"evaluate", "preflop_ev"}


@pytest.mark.parametrize(
    ("file", "name", "calling", "changed"),
    [
        ("solver/blueprint/node_kernels.py", "_prune", {"lcfr", "dcfr", "preflop_ev"}, TRAINED),
        ("solver/blueprint/node_kernels.py", "_ascend", TRAINED, TRAINED),
        ("solver/blueprint/boards.py", "street_buckets", TRAINED - {"export"}, TRAINED),
        ("solver/cfr/simd.py", "_overload_operator", TRAINED, TRAINED),
        (
            "abstractions/features/histograms.py",
            "_histograms",
            {"textures", "buckets"},
            AFTER_TEXTURES,
        ),
        (
            "abstractions/features/histograms.py",
            "_class_histograms",
            {"buckets"},
            AFTER_TEXTURES - {"textures"},
        ),
        # Without a table of equities the preflop game would make its own: training can call this too.
        (
            "abstractions/equity.py",
            "_count_class_wins",
            {"preflop_equity", *TRAINED},
            {"preflop_equity", *TRAINED},
        ),
        ("abstractions/bucket_equity.py", "_count_wins", {"bucket_equity"}, {"bucket_equity", *TRAINED}),
        (
            "abstractions/isomorphism.py",
            "_fill_slots",
            set(STAGES),
            set(STAGES),
        ),
        ("artifacts/preflop_offpath.py", "_folded", {"evaluate", "export"}, {"evaluate", "export"}),
        (
            "artifacts/readers.py",
            "read_trained_blueprint",
            {*MEASURING, "export"},
            {*MEASURING, "export"},
        ),
        ("solver/blueprint/preflop_values.py", "deal_batch", {"preflop_ev"}, {*MEASURING, "export"}),
        ("abstractions/rank_moments.py", "_add_powers", {"lcfr", "dcfr", "preflop_ev"}, TRAINED),
        ("solver/blueprint/known_luck.py", "_add_board", {"lcfr", "dcfr"}, TRAINED),
        ("pipelines/stages/evaluate.py", "preflop_metrics", {"evaluate"}, {"evaluate", "export"}),
        ("pipelines/stages/export_tables.py", "lines_table", {"export"}, {"export"}),
        ("pipelines/stages/preflop_spots.py", "spot_line", {"export"}, {"export"}),
        ("pipelines/training/trace.py", "best_of", {"lcfr", "dcfr"}, TRAINED),
        ("pipelines/training/trace.py", "has_risen", {"lcfr", "dcfr"}, TRAINED),
        ("pipelines/training/flop_draw.py", "balanced_features", {"evaluate"}, {"evaluate", "export"}),
        ("solver/blueprint/river_values.py", "_settle_tile", TRAINED, TRAINED),
        ("solver/blueprint/run_outs.py", "all_run_outs", {"lcfr", "dcfr", "evaluate"}, TRAINED),
        ("pipelines/config/training.py", "rule", {"lcfr", "dcfr"}, TRAINED),
    ],
)
def test_an_edited_kernel_changes_the_stages_that_call_it_and_those_after_them(
    keys: Callable[..., dict[str, str]],
    edit: Callable[..., None],
    file: str,
    name: str,
    calling: set[str],
    changed: set[str],
) -> None:
    def versions() -> dict[str, str]:
        return {stage: cv.PROJECT.version(f"pipelines.stages.{stage}", "compute") for stage in STAGES}

    keys_before, versions_before = keys(), versions()
    edit(file, with_line(name, CHANGED))
    keys_after, versions_after = keys(), versions()
    assert {stage for stage in STAGES if versions_after[stage] != versions_before[stage]} == calling
    assert {stage for stage in STAGES if keys_after[stage] != keys_before[stage]} == changed


@pytest.mark.parametrize(
    ("tier", "changed"),
    [("huge", set()), ("full", {"evaluate", "export"}), ("small", TRAINED)],
)
@pytest.mark.parametrize("part", ["flops", "turns", "rivers"])
def test_a_key_has_the_boards_of_the_tiers_that_its_stage_uses(
    keys: Callable[..., dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tier: str,
    changed: set[str],
    part: str,
) -> None:
    before = keys("evaluate=small_full")
    old = TIERS[tier]
    parts = {"flops": old.flops, "turns": old.turns, "rivers": old.rivers}
    parts[part] = [*old.flops[:-1], "2d5h7s"] if part == "flops" else parts[part] + 1  # type: ignore[operator]
    monkeypatch.setitem(TIERS, tier, Tier(**parts))  # type: ignore[arg-type]
    after = keys("evaluate=small_full")
    assert {stage for stage in STAGES if after[stage] != before[stage]} == changed


@pytest.mark.parametrize(("tier", "changed"), [("real", {"evaluate", "export"}), ("real_small", TRAINED)])
def test_a_key_has_the_weights_of_the_flops_too(
    keys: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch, tier: str, changed: set[str]
) -> None:
    before, old = keys("evaluate=real"), TIERS[tier]
    weights = [*old.flop_weights[:-1].tolist(), 1.0]
    monkeypatch.setitem(TIERS, tier, Tier(old.flops, old.turns, old.rivers, weights))
    after = keys("evaluate=real")
    assert {stage for stage in STAGES if after[stage] != before[stage]} == changed


def test_the_text_of_the_tiers_reaches_the_keys() -> None:
    """What the test above changes is what the stages are measured on."""
    reached = cv.reached_symbols(evaluate.compute)
    assert {
        ("pipelines.training.evaluation_boards", name) for name in ("TIERS", "Tier", "TIER_NAME")
    } <= reached


# How names are resolved, on small packages.


@pytest.fixture
def version_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Hash of a small package `demo` (entry, helper, aside) after edits to its files."""
    files = {
        "__init__": "",
        "entry": "from typing import TYPE_CHECKING\nfrom demo import helper\n"
        "if TYPE_CHECKING:\n    from demo import aside\ndef stage(): return helper.one()\n",
        "helper": "def one(): return 1\n",
        "aside": "def two(): return 2\n",
    }

    def version(**edits: str) -> str:
        for name, text in (files | edits).items():
            path = tmp_path / "demo" / f"{name.replace('__sub__', 'sub/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.setattr(cv, "PROJECT", cv.Sources(tmp_path, ("demo",)))

        def stage() -> None: ...

        stage.__module__, stage.__qualname__ = "demo.entry", "stage"
        return cv.code_version(stage)

    return version


def test_a_change_in_a_called_module_changes_the_version(version_of) -> None:
    assert version_of() != version_of(helper="def one(): return 3\n")


def test_comments_formatting_and_docstrings_do_not(version_of) -> None:
    assert version_of() == version_of(helper='def one():\n    """One."""\n    # why not\n    return (1)\n')


def test_code_that_is_only_named_in_types_does_not(version_of) -> None:
    assert version_of() == version_of(aside="def two(): return 3\n")


LATER = "from __future__ import annotations\n"
PASSING = "def stage(): return x()\n"

#: Files of the package; `@` stands for 1 in the first version and for 2 in the second.
COUNTS = {
    "a function of the same module": {"entry": PASSING + "def x(): return @\n"},
    "a function called by a function": {
        "entry": PASSING + "def x(): return y()\ndef y(): return @\n",
    },
    "a constant": {"entry": "def stage(): return X\nX = @\n"},
    "one of several names assigned at once": {"entry": "def stage(): return X\nW, (*V, X) = 0, (1, @)\n"},
    "a second assignment": {"entry": "def stage(): return X\nX = 0\nX = @\n"},
    "an augmented assignment": {"entry": "def stage(): return X\nX = 0\nX += @\n"},
    "an item set later": {"entry": "def stage(): return X\nX = {}\nX['a'] = @\n"},
    "an attribute set later": {"entry": "def stage(): return x()\ndef x(): ...\nx.y = @\n"},
    "a call on a name": {"entry": "def stage(): return X\nX = []\nX.append(@)\n"},
    "a redefinition": {"entry": PASSING + "def x(): return 0\ndef x(): return @\n"},
    "an overload": {"entry": PASSING + "@typing.overload\ndef x(a=@): ...\ndef x(): ...\n"},
    "a default argument": {"entry": "def stage(a=X): ...\nX = @\n"},
    "a decorator": {"entry": "@x\ndef stage(): ...\ndef x(f): return @\n"},
    "a method nobody names": {
        "entry": "def stage(): return X()\nclass X:\n    def y(self): return @\n",
    },
    "a base class": {"entry": "def stage(): return X()\nclass X(Y): ...\nclass Y:\n    z = @\n"},
    "a keyword of a class": {
        "entry": "def stage(): return X\nclass X(metaclass=Y): ...\nclass Y:\n    z = @\n"
    },
    "a class decorator": {"entry": "def stage(): return X\n@y\nclass X: ...\ndef y(c): return @\n"},
    "a default of a field": {
        "entry": LATER + "def stage(): return X()\nclass X:\n    a: int = f(@)\n",
    },
    "the type of a field": {
        "entry": LATER + "def stage(): return X()\nclass X:\n    a: Y\nclass Y:\n    b = @\n",
    },
    "the type of the config": {
        "entry": LATER + "def stage(config: X): return config.b()\nclass X:\n    def b(self): return @\n",
    },
    "an annotation that is evaluated": {"entry": PASSING + "def x(a: Y): ...\nclass Y:\n    z = @\n"},
    "an annotation that a decorator can read": {
        "entry": LATER + PASSING + "@register\ndef x(a: Y): ...\nclass Y:\n    z = @\n",
    },
    "a name inside a lambda": {"entry": "def stage(): return lambda a: a + X\nX = @\n"},
    "a name inside a comprehension": {"entry": "def stage(): return [a + X for a in X]\nX = @\n"},
    "a name that a comprehension only borrows": {
        "entry": "def stage(): return [X for X in ()], X\nX = @\n",
    },
    "what a comprehension runs over": {"entry": "def stage(): return [X for X in X]\nX = @\n"},
    "a name inside a nested function": {
        "entry": "def stage():\n    def inner(): return X\n    return inner\nX = @\n",
    },
    "a name declared global": {"entry": "def stage():\n    global X\n    X = X + 1\nX = @\n"},
    "a global name under a local one": {
        "entry": "def stage():\n    X = 0\n    def y():\n        global X\n        return X\n    return y\nX = @\n",
    },
    "a name that a class body has too": {
        "entry": "def stage(): return Y()\nclass Y:\n    X = 0\n    def z(self): return X\nX = @\n",
    },
    "a match on a class": {
        "entry": "def stage(a):\n    match a:\n        case X(): return 1\nclass X:\n    b = @\n",
    },
    "from module import name": {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "def one(): return @\n",
    },
    "from module import name as other": {
        "entry": "from demo.helper import one as other\ndef stage(): return other()\n",
        "helper": "def one(): return @\n",
    },
    "from package import module": {
        "entry": "from demo import helper\ndef stage(): return helper.one()\n",
        "helper": "def one(): return @\n",
    },
    "import a.b": {
        "entry": "import demo.helper\ndef stage(): return demo.helper.one()\n",
        "helper": "def one(): return @\n",
    },
    "import a.b as c": {
        "entry": "import demo.helper as c\ndef stage(): return c.one()\n",
        "helper": "def one(): return @\n",
    },
    "a relative import": {
        "entry": "from .helper import one\ndef stage(): return one()\n",
        "helper": "def one(): return @\n",
    },
    "a relative import of a module": {
        "entry": "from . import helper\ndef stage(): return helper.one()\n",
        "helper": "def one(): return @\n",
    },
    "a relative import from the package above": {
        "entry": "from demo.sub.part import two\ndef stage(): return two()\n",
        "__sub____init__": "",
        "__sub__part": "from ..helper import one\ndef two(): return one()\n",
        "helper": "def one(): return @\n",
    },
    "an import inside a function": {
        "entry": "def stage():\n    from demo.helper import one\n    return one()\n",
        "helper": "def one(): return @\n",
    },
    "an import of a module inside a function": {
        "entry": "def stage():\n    import demo.helper as c\n    return [c.one() for _ in c.one()]\n",
        "helper": "def one(): return @\n",
    },
    "an import around a nested function": {
        "entry": "def stage():\n    from demo import helper\n    def f(): return helper.one()\n    return f\n",
        "helper": "def one(): return @\n",
    },
    "an import inside a class": {
        "entry": "def stage(): return X.one()\nclass X:\n    from demo.helper import one\n",
        "helper": "def one(): return @\n",
    },
    "an import that may fail": {
        "entry": "try:\n    from demo.helper import one\nexcept ImportError:\n    one = None\n"
        "def stage(): return one()\n",
        "helper": "def one(): return @\n",
    },
    "a star import that may fail": {
        "entry": "try:\n    from demo.helper import *\nexcept ImportError: ...\ndef stage(): return one()\n",
        "helper": "def one(): return @\n",
    },
    "a star import": {
        "entry": "from demo.helper import *\ndef stage(): return one()\n",
        "helper": "def one(): return @\n",
    },
    "a name that a package hands on": {
        "__init__": "from demo.helper import one\n",
        "entry": "import demo\ndef stage(): return demo.one()\n",
        "helper": "def one(): return @\n",
    },
    "a module that a package hands on": {
        "__init__": "from demo import helper\n",
        "entry": "import demo\ndef stage(): return demo.helper.one()\n",
        "helper": "def one(): return @\n",
    },
    "a name handed on twice": {
        "entry": "from demo.aside import one\ndef stage(): return one()\n",
        "aside": "from demo.helper import one\n",
        "helper": "def one(): return @\n",
    },
    "a module passed on as an object": {
        "entry": "from demo import helper\ndef stage(): return getattr(helper, 'o' + 'ne')()\n",
        "helper": "def one(): return @\n",
    },
    "what a module passed on as an object imports": {
        "entry": "from demo import helper\ndef stage(): return getattr(helper, 'o' + 'ne')()\n",
        "helper": "from demo.aside import one\n",
        "aside": "def one(): return @\n",
    },
    "an attribute that a module makes up": {
        "entry": "from demo import helper\ndef stage(): return helper.one()\n",
        "helper": "def __getattr__(name): return @\n",
    },
    "a statement of a reached module": {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "import numba\nnumba.settings(@)\ndef one(): return 1\n",
    },
    "a loop of a reached module": {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "def one(): return 1\nfor k in range(3): f(k)\ndef f(k): return @\n",
    },
    "a definition under a condition": {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "if linux:\n    def one(): return 1\nelse:\n    def one(): return @\n",
    },
    "what a reached module sets elsewhere": {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "import numba\nnumba.threads = @\ndef one(): return 1\n",
    },
    "a definition that its decorator registers": {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "def one(): return 1\n@overload(one)\ndef _(): return @\n",
    },
    "the branch that runs instead of the one for type checkers": {
        "entry": "if TYPE_CHECKING:\n    X = 0\nelse:\n    X = @\ndef stage(): return X\n",
    },
}

DOES_NOT_COUNT = {
    "a function nobody calls": {"entry": "def stage(): ...\ndef x(): return @\n"},
    "a constant nobody uses": {"entry": "def stage(): ...\nX = @\n"},
    "the other name of a module": {
        "entry": "from demo import helper\ndef stage(): return helper.one()\n",
        "helper": "def one(): ...\ndef two(): return @\n",
    },
    "the rest of a package that hands a name on": {
        "__init__": "from demo.helper import one\nfrom demo.aside import two\n",
        "entry": "from demo import one\ndef stage(): return one()\n",
        "helper": "def one(): ...\n",
        "aside": "def two(): return @\n",
    },
    "a local variable of the same name": {"entry": "def stage():\n    X = 1\n    return X\nX = @\n"},
    "a parameter of the same name": {"entry": "def stage(X, *Y, **Z): return X, Y, Z\nX = Y = Z = @\n"},
    "a loop variable of the same name": {"entry": "def stage(): return [X.y for X in ()]\nX = @\n"},
    "a parameter of a lambda": {"entry": "def stage(): return lambda X: X\nX = @\n"},
    "a caught exception of the same name": {
        "entry": "def stage():\n    try: ...\n    except E as X: return X\nX = @\n",
    },
    "a captured pattern of the same name": {
        "entry": "def stage(a):\n    match a:\n        case [X, *Y]: return X, Y\nX = Y = @\n",
    },
    "an outer variable of the same name": {
        "entry": "def stage():\n    X = 1\n    def f():\n        nonlocal X\n        X += 1\n    return f\nX = @\n",
    },
    "an attribute of the same name": {"entry": "def stage(a): return a.X\nX = @\n"},
    "a field of the same name": {"entry": "def stage(): return Y()\nclass Y:\n    X = 0\nX = @\n"},
    "an import nobody uses": {
        "entry": "from demo.helper import one\ndef stage(): ...\n",
        "helper": "def one(): return @\n",
    },
    "an annotation that is not evaluated": {
        "entry": LATER + PASSING + "def x(a: Y) -> Y: ...\nclass Y:\n    z = @\n",
    },
    "the text of an annotation that is not evaluated": {
        "entry": LATER + PASSING + "def x(a: 'Y@') -> 'Y@':\n    b: 'Y@' = a\n",
    },
    "the annotation of a local variable": {
        "entry": PASSING + "def x():\n    a: Y = 1\nclass Y:\n    z = @\n"
    },
    "the annotation of a constant": {
        "entry": LATER + "def stage(): return X\nX: Y = 1\nclass Y:\n    z = @\n",
    },
    "code for type checkers": {
        "entry": "import typing\nif typing.TYPE_CHECKING:\n    X = @\ndef stage(): return X\n",
    },
    "code for type checkers inside a function": {
        "entry": "def stage():\n    if TYPE_CHECKING:\n        return @\n",
    },
    "the docstring of a class": {"entry": "def stage(): return X()\nclass X:\n    'Doc @.'\n    a = 1\n"},
    "the docstring of a field": {"entry": "def stage(): return X()\nclass X:\n    a = 1\n    'Doc @.'\n"},
    "the docstring of a module": {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "'Doc @.'\ndef one(): ...\n",
    },
    "the place of a definition": {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "X = @\n" + "Y = 0\n" * 3 + "def one(): ...\n",
    },
    "a decorated function nobody calls": {
        "entry": "def stage(): ...\n@njit(cache=True)\ndef x(): return @\n@dataclass\nclass Y:\n    z = @\n",
    },
    "a module outside the project": {
        "entry": "import nowhere\ndef stage(): return nowhere.one(len(()))\n",
        "aside": "def one(): return @\n",
    },
}


@pytest.mark.parametrize("what", COUNTS)
def test_it_counts(version_of, what: str) -> None:
    assert changes(version_of, COUNTS[what])


@pytest.mark.parametrize("what", DOES_NOT_COUNT)
def test_it_does_not_count(version_of, what: str) -> None:
    assert not changes(version_of, DOES_NOT_COUNT[what])


def changes(version_of: Callable[..., str], files: dict[str, str]) -> bool:
    assert any("@" in text for text in files.values())
    first, second = (
        version_of(**{name: _numbered(text, number) for name, text in files.items()}) for number in "12"
    )
    return first != second


def _numbered(text: str, number: str) -> str:
    """`@` as a number, unless it starts a decorator."""
    return "\n".join(line if line.startswith("@") else line.replace("@", number) for line in text.split("\n"))


@pytest.mark.parametrize("ends", ["TRANSPORT", "CARRIERS"])
def test_transport_ends_the_walk_and_carriers_pass_it_on(
    version_of, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr(cv, ends, ("demo.helper",))
    files = {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "from demo.aside import two\ndef one(): return two()\n",
    }
    before = version_of(**files)
    assert (
        version_of(**files | {"helper": files["helper"] + "two.a = 1\ndef one(): return two(), 3\n"})
        == before
    )
    assert (version_of(**files, aside="def two(): return 3\n") != before) == (ends == "CARRIERS")


def test_a_circle_of_imports_ends(version_of) -> None:
    files = {
        "entry": "from demo.helper import one\ndef stage(): return one()\n",
        "helper": "from demo.aside import one\n",
        "aside": "from demo.helper import one\n",
    }
    assert version_of(**files)


def test_a_function_inside_another_counts_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "__init__.py").touch()
    (tmp_path / "demo" / "entry.py").write_text(
        "def outer():\n    return lambda: one()\n\n\ndef one(): ...\n\n\ndef other(): ...\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(cv, "PROJECT", cv.Sources(tmp_path, ("demo",)))
    inner = importlib.import_module("demo.entry").outer()
    assert cv.reached_symbols(inner) == {("demo.entry", name) for name in ("outer", "one", cv.STATEMENTS)}


class OneReader:
    """Sources that notice when two threads read them at the same time."""

    def __init__(self) -> None:
        self.reading, self.most = 0, 0

    def version(self, module: str, name: str) -> str:
        self.reading += 1
        self.most = max(self.most, self.reading)
        time.sleep(0.01)
        self.reading -= 1
        return f"{module}.{name}"


def test_one_thread_at_a_time_reads_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """The explorer answers in threads, and Python 3.11 may fail when two of them read syntax trees at once."""
    sources = OneReader()
    monkeypatch.setattr(cv, "PROJECT", sources)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(cv.code_version, [dcfr.compute] * 8)) == {"pipelines.stages.dcfr.compute"}
    assert sources.most == 1
