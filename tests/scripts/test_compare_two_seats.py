"""The script that compares both trainers of two seats, as a user starts it, on a size that takes seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.whole


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts/compare_two_seats.py"), f"store.root={folder}", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_both_trainers_are_compared_on_one_game(tmp_path: Path) -> None:
    size = ("+preset=smoke", "game=hu25", "cluster=inprocess", "multiway.epochs=20", "multiway.deals=200")
    done = run(tmp_path, *size, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    first, second = found["heads_up"], found["several_seats"]
    assert list(first["frequencies"]) == list(second["frequencies"]) == ["", "c", "b200"]
    for side in (first, second):
        assert side["low"] <= side["value"] <= side["high"]
        for shares in side["frequencies"].values():
            assert sum(shares.values()) == pytest.approx(1.0)
        assert side["frequencies"]["b200"]["fold"] < 0.9
    done = run(tmp_path, *size)
    assert "small blind, mbb/hand" in done.stdout
    assert "b200: fold" in done.stdout


def test_more_seats_are_refused_in_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "+preset=smoke", "game=three_max25")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "game.stacks: 3 seats; accepted: 2" in done.stderr
    assert not list(tmp_path.iterdir())
