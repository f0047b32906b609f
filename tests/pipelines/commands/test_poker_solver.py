"""`poker-solver` as a person types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.commands.options import writable
from pipelines.solve import _solved_or_refused
from solver.postflop.spot import read_spot

SPOT = {
    "board": "QsJh2h8d3c",
    "oop_range": "QQ,AQ,KQs,T9s,98s",
    "ip_range": "JJ,KJ,AhKh,QTs,97s",
    "pot": 200,
    "stack": 300,
    "bet_sizes": {"river": {"bet": "50%,a", "raise": "2.5x"}},
}


def poker_solver(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipelines.poker_solver", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture
def spot_file(tmp_path: Path) -> Path:
    path = tmp_path / "spot.json"
    path.write_text(json.dumps(SPOT))
    return path


def test_equity_of_two_hands_is_the_known_share(tmp_path: Path) -> None:
    done = poker_solver("equity", "AhKh", "QsQd", "--board", "Kc7d2s", "--json", cwd=tmp_path)
    ours, theirs = json.loads(done.stdout)["equity"]
    # Queens need one of two queens in two cards without a king or ace making things worse: 990 runouts.
    assert ours + theirs == pytest.approx(1)
    assert 0.90 < ours < 0.93
    assert "AhKh: 91." in poker_solver("equity", "AhKh", "QsQd", "--board", "Kc7d2s", cwd=tmp_path).stdout


def test_equity_of_three_hands_counts_deals_by_set_of_winners(tmp_path: Path) -> None:
    question = ["equity", "3d7d", "2h9h", "2c9c", "--board", "5d5h5c", "--dead", "3s3c"]
    found = json.loads(poker_solver(*question, "--json", cwd=tmp_path).stdout)
    assert found["winners"] == {"1": 183, "2": 28, "3": 0, "4": 28, "5": 0, "6": 380, "7": 201}
    assert found["exact"] is True
    assert found["standard_error"] == 0
    assert found["equity"] == pytest.approx([(183 + 201 / 3) / 820, *[(28 + 380 / 2 + 201 / 3) / 820] * 2])
    assert found["win"] == pytest.approx([183 / 820, 28 / 820, 28 / 820])
    assert found["tie"] == pytest.approx([201 / 820, 581 / 820, 581 / 820])
    assert "2h9h: 34.7561%" in poker_solver(*question, cwd=tmp_path).stdout


def test_two_hands_keep_the_names_of_their_output(tmp_path: Path) -> None:
    found = json.loads(
        poker_solver("equity", "AhKh", "QsQd", "--board", "Kc7d2s5h", "--json", cwd=tmp_path).stdout
    )
    assert (found["first"], found["second"], found["board"]) == ("AhKh", "QsQd", "Kc7d2s5h")
    assert found["winners"] == {"1": 42, "2": 2, "3": 0}  # two queens are left for the queens
    assert found["equity"] == pytest.approx([42 / 44, 2 / 44])


def test_sampled_equities_are_said_to_be_sampled(tmp_path: Path) -> None:
    found = json.loads(poker_solver("equity", *["22+,A2s+"] * 4, "--json", cwd=tmp_path).stdout)
    assert found["exact"] is False
    assert 0 < found["standard_error"] <= 2e-4
    assert sum(found["equity"]) == pytest.approx(1)


def test_push_or_fold_at_ten_big_blinds_is_the_published_one(tmp_path: Path) -> None:
    overrides = ["game.stacks=[1000,1000]", "game.raise_sizes=[a]", "game.limp=false"]
    done = poker_solver("preflop", *overrides, "--iterations", "4000", "--json", cwd=tmp_path)
    result = json.loads(done.stdout)
    assert result["values_bb"][0] == pytest.approx(-0.04537, abs=1e-4)
    assert result["strategy"]["||p|"]["AA"]["all_in"] > 0.999
    assert result["source"]["stacks_bb"] == [10, 10]


def test_a_spot_is_solved_to_its_target(spot_file: Path) -> None:
    out = spot_file.with_name("result.json")
    done = poker_solver("solve", str(spot_file), "--out", str(out), cwd=spot_file.parent)
    assert done.returncode == 0, done.stderr
    assert "oop acts: x" in done.stdout
    result = json.loads(out.read_text())
    assert result["exploitability_pct"] <= 0.1
    assert sum(result["ev"].values()) == pytest.approx(200, abs=0.01)
    assert sum(result["root"]["frequencies"]) == pytest.approx(1)
    hand = result["root"]["hands"]["QhQd"]
    assert hand["ev"] == pytest.approx(
        sum(p * v for p, v in zip(hand["strategy"], hand["action_ev"])), abs=0.01
    )


def test_a_solve_goes_on_from_its_state(spot_file: Path) -> None:
    state = spot_file.with_name("state.npz")
    spot_file.write_text(json.dumps(SPOT | {"max_iterations": 20, "target_exploitability_pct": 0.0}))
    first = json.loads(
        poker_solver("solve", "spot.json", "--state", str(state), "--json", cwd=spot_file.parent).stdout
    )
    spot_file.write_text(json.dumps(SPOT | {"max_iterations": 60, "target_exploitability_pct": 0.0}))
    second = json.loads(
        poker_solver("solve", "spot.json", "--state", str(state), "--json", cwd=spot_file.parent).stdout
    )
    whole = json.loads(poker_solver("solve", "spot.json", "--json", cwd=spot_file.parent).stdout)
    assert (first["iterations"], second["iterations"]) == (20, 60)
    assert second["root"]["frequencies"] == pytest.approx(whole["root"]["frequencies"], abs=1e-6)


def test_the_tree_of_a_spot_and_of_a_game(spot_file: Path) -> None:
    spot = poker_solver("tree", "--spot", "spot.json", cwd=spot_file.parent).stdout
    assert spot.splitlines()[0] == ": X B100 A300"
    game = poker_solver("tree", "game=hu25", "--last-street", "0", "--json", cwd=spot_file.parent)
    data = json.loads(game.stdout)
    assert data["lines"][0] == ": F C B200"
    assert data["decisions"]["b200"] == ["f", "c", "r600", "A"]
    assert data["source"] == {"game": "hu25", "stacks": [2500, 2500], "stacks_bb": [25, 25]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"oop_range": "QsQh"}, "oop_range: every hand is blocked"),
        ({"oop_range": ""}, "oop_range"),
        ({"oop_range": "Zz"}, "oop_range"),
        ({"board": "QsJh"}, "board"),
        ({"board": "QsQs2h8d3c"}, "board"),
        ({"pot": 0}, "pot"),
        ({"bet_sizes": {"river": {"bet": "half"}}}, "bet_sizes.river"),
        ({"surprise": 1}, "surprise"),
        ({"oop_range": "AhKh", "ip_range": "AhKd,AhKc"}, "range"),
        ({"memory_limit_mib": 0.001}, "memory"),
    ],
)
def test_a_bad_spot_is_one_line_that_names_file_and_key(spot_file: Path, changes: dict, message: str) -> None:
    spot_file.write_text(json.dumps(SPOT | changes))
    done = poker_solver("solve", "spot.json", cwd=spot_file.parent)
    assert done.returncode == 2
    assert done.stderr.startswith("error: spot.json: ")
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("solve", "none.json"), ("equity", "AhKh"), ("nothing",), ("equity", "AA", "A")]
)
def test_a_usage_error_is_one_line_and_exit_code_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = poker_solver(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_file_to_write_may_be_new_old_or_a_device(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("{}")
    for path in (tmp_path / "old.json", tmp_path / "new.json", Path("/dev/null")):
        assert writable(path) == path
    assert writable(None) is None


def test_a_spot_of_a_folder_that_needs_too_much_memory_says_so() -> None:
    refusal = _solved_or_refused(read_spot(SPOT | {"memory_limit_mib": 0.001}))
    assert isinstance(refusal, str)
    assert refusal.startswith("memory: the tree needs")


def test_three_seats_have_a_tree(tmp_path: Path) -> None:
    overrides = ("game.stacks=[1000,1000,1000]", "game.antes=0")
    done = poker_solver("tree", *overrides, "--last-street", "0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["lines"]) > 10


@pytest.mark.whole
def test_a_folder_of_spots_is_solved_once_and_reported(spot_file: Path, tmp_path: Path) -> None:
    from artifacts import open_bundle

    folder = tmp_path / "spots"
    folder.mkdir()
    for board in ("QsJh2h8d3c", "Qs7h2h8d3c"):
        (folder / f"{board}.json").write_text(json.dumps(SPOT | {"board": board}))
    command = [sys.executable, "-m", "pipelines.solve", f"spots={folder}", "cluster=inprocess"]
    first = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "2 spots: 0 solved before, 2 to solve" in first.stdout
    report = open_bundle(tmp_path / first.stdout.splitlines()[-1].removeprefix("bundle: "))
    rows = report["spots"].table().to_pylist()
    assert [row["board"] for row in rows] == ["Qs7h2h8d3c", "QsJh2h8d3c"]
    for row in rows:
        assert row["ev_oop"] + row["ev_ip"] == pytest.approx(200, abs=0.01)
        assert row["eqr_oop"] == pytest.approx(row["ev_oop"] / (200 * row["equity_oop"]))
        assert row["check"] + row["bet"] == pytest.approx(1, abs=1e-6)
    second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "2 spots: 2 solved before, 0 to solve" in second.stdout
    assert second.stdout.splitlines()[-1] == first.stdout.splitlines()[-1]
