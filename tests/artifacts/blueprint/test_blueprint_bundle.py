"""What an exported blueprint answers, how quickly, and what it refuses."""

from __future__ import annotations

import copy
import doctest
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from abstractions.buckets import bucket_of
from abstractions.cards import CLASS_NAMES, parse_combo
from artifacts import BlueprintBundle, BundleError, open_blueprint, open_bundle
from artifacts.bundle import HASH_AT_OPEN_BYTES
from artifacts.format.verified_files import SETTLED_NS
from artifacts.offpath.marks import is_cleaned
from artifacts.postflop_offpath import clean_off_path, reasons_by_key

FLOP, TURN, RIVER = "QsJh2h", "QsJh2h8d", "QsJh2h8d3c"


@pytest.fixture(scope="module")
def bundle(exported: Path) -> BlueprintBundle:
    return open_blueprint(exported)


def test_the_examples_of_the_readme_are_true(exported: Path) -> None:
    readme = Path(__file__).parents[3] / "artifacts" / "README.md"
    result = doctest.testfile(str(readme), module_relative=False, globs={"folder": str(exported)})
    assert result.attempted > 15
    assert result.failed == 0


@pytest.mark.parametrize("scope", ["global", "texture"])
def test_a_hand_plays_the_row_of_its_bucket(export_tiny: Callable[..., Path], scope: str) -> None:
    bundle = open_blueprint(export_tiny(scope))
    decision = bundle.decision("b250c/xx/b250")
    table = bundle["postflop_turn"]
    mine = np.flatnonzero(table["line"] == "b250c/xx/b250")
    if scope == "texture":
        canonical = open_bundle(bundle.path)["textures"]["texture"]
        from abstractions.cards import parse_board
        from abstractions.isomorphism import board_index

        texture = canonical[board_index(parse_board(FLOP)[None])[0][0]]
        mine = mine[table["texture"][mine] == texture]
    bucket = int(bucket_of(bundle, "AhKc", TURN)[0])
    expected = dict(zip(decision.actions, table["probability"][mine, bucket].tolist()))
    assert bundle.strategy("b250c/xx/b250", "AhKc", TURN, clean=False) == pytest.approx(expected)


def test_a_view_holds_the_way_to_the_line_and_what_follows_on_its_street(bundle: BlueprintBundle) -> None:
    view = bundle.per_history_strategy_view(TURN, "b250c/xb250c/x", clean=False)
    histories = {tuple(key.split("|")[1:]) for key in view}
    assert histories == {
        ("2hJhQs", "f", ""),
        ("2hJhQs", "f", "x"),
        ("2hJhQs", "f", "xb250"),
        ("2h8dJhQs", "t", "xb250c/"),
        ("2h8dJhQs", "t", "xb250c/x"),
        ("2h8dJhQs", "t", "xb250c/xA"),
        # An all-in that was on offer on the way.
        ("2hJhQs", "f", "xb250A"),
        ("2h8dJhQs", "t", "xb250c/A"),
    }
    assert len(view) == 4 * 1176 + 4 * 1128
    for key, row in view.items():
        assert sum(row) == pytest.approx(1, abs=1e-6), key
    line = "b250c/xb250c/x"
    assert list(bundle.strategy(line, "AhKc", TURN, clean=False).values()) == view["KcAh|2h8dJhQs|t|xb250c/x"]


def test_cleaning_a_view_is_the_off_path_module_with_the_ranges_of_the_flop(bundle: BlueprintBundle) -> None:
    raw = bundle.per_history_strategy_view(FLOP, "b250c/", clean=False)
    before = copy.deepcopy(raw)
    cleaned = bundle.per_history_strategy_view(FLOP, "b250c/")
    names = sorted({key.split("|")[0] for key in raw})
    expected = raw
    for seat, is_oop in ((0, False), (1, True)):
        weights = bundle.range("b250c", seat, FLOP)
        held = {name: float(weights[parse_combo(name)]) for name in names}
        expected = clean_off_path(expected, held, hero_is_oop=is_oop)
        for key, reason in reasons_by_key(raw, held, hero_is_oop=is_oop).items():
            gives_up = [1.0] + [0.0] * (len(raw[key]) - 1)
            assert cleaned[key] == (gives_up if is_cleaned(reason) else raw[key]), key
    assert cleaned == expected
    assert raw == before
    assert cleaned != raw


def test_a_deep_view_cleans_as_one_of_the_whole_street_does(bundle: BlueprintBundle) -> None:
    reasons = set()
    for line in [line for line in bundle.lines("turn") if line.endswith("/xA")]:
        deep = bundle.per_history_strategy_view(TURN, line)
        whole = bundle.per_history_strategy_view(TURN, line.removesuffix("xA"))
        shared = deep.keys() & whole.keys()
        assert len(shared) >= 3 * 1128
        assert {key: deep[key] for key in shared} == {key: whole[key] for key in shared}
        raw = bundle.per_history_strategy_view(TURN, line, clean=False)
        reasons |= set(reasons_by_key(raw, None).values())
    assert "all_in" in reasons


def test_a_preflop_range_is_what_the_hands_do_on_the_way(bundle: BlueprintBundle) -> None:
    first, later = bundle.preflop("||p|"), bundle.preflop("||p|cb250")
    limps = first.raw_probability[:, first.actions.index("call")]
    calls = later.raw_probability[:, later.actions.index("call")]
    np.testing.assert_array_equal(bundle.range("||p|cb250", "sb"), limps)
    np.testing.assert_array_equal(bundle.range("cb250c", 0), limps * calls)
    np.testing.assert_array_equal(bundle.range("cb250", None), later.reach)
    assert bundle.range("b250", 0)[CLASS_NAMES.index("AA")] == 1
    assert bundle.range("b250", 0)[CLASS_NAMES.index("72o")] == 0
    combos = bundle.opponent_reach("b250")
    assert combos[parse_combo("AhAs")] == 1
    blocked = bundle.range("b250c", 0, FLOP)
    assert blocked[parse_combo("QsAh")] == 0


def test_all_ways_to_write_a_line_and_a_hand_are_understood(bundle: BlueprintBundle) -> None:
    for one, other in (("b250c", "||p|b250c/"), ("b250c/xx", "b250c/xx/")):
        board = FLOP if one == "b250c" else TURN
        np.testing.assert_array_equal(bundle.range(one, 0, board), bundle.range(other, 0, board))
        assert bundle.decision(one) == bundle.decision(other)
    assert bundle.strategy("", "AhAs") == bundle.strategy("||p|", "AA")
    assert bundle.strategy("b250c/", "KcAh", FLOP) == bundle.strategy("b250c/", "AhKc", FLOP)
    everything = [line for street in ("preflop", "flop", "turn", "river") for line in bundle.lines(street)]
    assert sorted(everything) == sorted(bundle.lines())


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda b: b.strategy("b300", "AA"), r"'b300' is not possible after the start; accepted: f c b250"),
        (lambda b: b.range("b250k", 0), r"no token at 'k'"),
        (lambda b: b.range("b250f/x", 0), r"'/' is not possible after b250f; .*the betting is over"),
        (lambda b: b.strategy("||p|", "AAA"), r"hand 'AAA': accepted are the 169 classes"),
        (lambda b: b.strategy("b250c/", "QsKh", FLOP), r"hand 'QsKh' shares a card with board QsJh2h"),
        (lambda b: b.range("b250c/x", 0), r"board '' has 0 cards: line 'b250c/x' needs 3"),
        (lambda b: b.range("b250c/x", 0, TURN), r"board 'QsJh2h8d' has 4 cards: .* needs 3"),
        (lambda b: b.strategy("||p|", "AA", FLOP), r"has 3 cards: line '\|\|p\|' needs 0"),
        (lambda b: b.per_history_strategy_view("", "b250"), r"has seen no flop"),
        (lambda b: b.range("b250", "utg"), r"player 'utg': accepted are 0 or sb"),
        (lambda b: b.lines("draw"), r"street 'draw': accepted are preflop, flop, turn, river"),
        (lambda b: b.preflop("b250c/"), r"not a preflop decision"),
        (lambda b: b.opponent_reach("b250f"), r"nobody acts there"),
        (lambda b: b.range("b250c/x", 1, "2c3d4h"), r"board 2c3d4h has no buckets"),
        (lambda b: b.continuation_value("b250c/", FLOP, bias="limp"), r"bias 'limp' is unknown"),
    ],
)
def test_what_cannot_be_answered_says_why(
    bundle: BlueprintBundle, question: Callable[[BlueprintBundle], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        question(bundle)


def test_the_first_answer_takes_under_100_ms_and_no_compiler(exported: Path) -> None:
    program = """
import sys, time
import numpy, pyarrow, pyarrow.ipc, artifacts
began = time.perf_counter()
bundle = artifacts.open_bundle(sys.argv[1])
share = bundle.strategy_table()["||p|"]["AA"]["open_250"]
seconds = time.perf_counter() - began
assert share == 1.0
assert not {"numba", "pandas", "hydra"} & set(sys.modules), "imported more than it needs"
print(seconds)
"""
    done = [
        subprocess.run(
            [sys.executable, "-c", program, exported], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(3)
    ]
    assert min(map(float, done)) < 0.1


def test_large_files_are_hashed_when_they_are_first_read(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(exported, tmp_path / "copy")
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    large = {name for name, size in sizes.items() if size >= HASH_AT_OPEN_BYTES}
    assert "textures.arrow" in large
    time.sleep(2 * SETTLED_NS / 1e9)
    hashed: list[str] = []
    from artifacts.format.manifest import sha256_of

    def counting(path: Path) -> str:
        hashed.append(path.name)
        return sha256_of(path)

    monkeypatch.setattr("artifacts.bundle.sha256_of", counting)
    bundle = open_bundle(folder)
    assert set(hashed) == set(sizes) - large - {"manifest.json"}
    bundle["textures"]["texture"]
    assert hashed[-1] == "textures.arrow"
    count = len(hashed)
    open_bundle(folder)["textures"]["texture"]
    assert len(hashed) == count
    data = bytearray((folder / "textures.arrow").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "textures.arrow").write_bytes(data)
    damaged = open_bundle(folder)
    assert damaged.strategy_table() == bundle.strategy_table()
    with pytest.raises(BundleError, match=r"textures\.arrow: altered"):
        damaged["textures"]
    with pytest.raises(BundleError, match=r"textures\.arrow: altered"):
        open_bundle(folder, verify="always")


def test_a_damaged_or_newer_bundle_is_refused_by_name(exported: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(exported, tmp_path / "copy")
    data = bytearray((folder / "preflop.arrow").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "preflop.arrow").write_bytes(data)
    with pytest.raises(BundleError, match=r"preflop\.arrow: altered"):
        open_bundle(folder)
    (folder / "preflop.arrow").write_bytes(data[:-8])
    with pytest.raises(BundleError, match=r"preflop\.arrow: .* \(truncated or altered\)"):
        open_bundle(folder)
    (folder / "preflop.arrow").unlink()
    with pytest.raises(BundleError, match=r"preflop\.arrow: missing"):
        open_bundle(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"schema_version": 3}))
    with pytest.raises(
        BundleError, match=r"manifest\.json: schema version 3; this program reads versions 1 and 2"
    ):
        open_bundle(folder)


def test_another_stage_is_not_a_blueprint(exported: Path) -> None:
    other = next(path for path in exported.parent.iterdir() if path.name.startswith("textures-"))
    assert not isinstance(open_bundle(other), BlueprintBundle)
    with pytest.raises(BundleError, match="a bundle of stage textures; expected one of stage export"):
        open_blueprint(other)
