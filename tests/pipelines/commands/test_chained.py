"""Chained solves: ranges carried from street to street, and what is printed about each."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from abstractions.cards import CLASS_NAMES, CLASS_OF_COMBO, parse_board, parse_combo
from artifacts.postflop_offpath import mark_off_path_with_reason
from pipelines.commands.chained import ChainedSettings, chained_result, read_hands, read_played
from pipelines.commands.chained_streets import ExactStreet, Start, StreetSettings
from pipelines.commands.chained_text import chained_lines
from pipelines.commands.preflop_play import PreflopPlay
from pipelines.poker_solver import app
from pipelines.run.errors import UserError
from solver.betting.game import GameConfig
from solver.preflop.solver import solve_preflop
from tests.solver.subgame import small_spots

BOARD = tuple(int(card) for card in parse_board("Ad8h9d2c7s"))
STREETS_OF_BOARD = ("flop Ad8h9d", "turn Ad8h9d2c", "river Ad8h9d2c7s")
HERO, VILLAIN = "KK,AKs,T9s,55", "QQ,AQs,87s,A5s"


@pytest.fixture(scope="module")
def play() -> PreflopPlay:
    result = solve_preflop(GameConfig(stacks=(2500, 2500), raise_sizes=("2.5", "3x", "a")), iterations=300)
    return PreflopPlay(result.strategy.game.config, result.strategy.by_line(), {"source": "live"})


@pytest.fixture(scope="module")
def settings() -> ChainedSettings:
    ranges = tuple(read_hands("range", text, BOARD) for text in (HERO, VILLAIN))
    played = read_played(None, BOARD)
    return ChainedSettings(
        ranges=(ranges[0], ranges[1]),
        board=BOARD,
        line="b250c",
        played=played,
        bet="100%",
        raise_="a",
        target=2.0,
        time_limit=None,
    )


@pytest.fixture(scope="module")
def raw(play: PreflopPlay, settings: ChainedSettings) -> dict[str, Any]:
    return chained_result(play, replace(settings, clean=False))


@pytest.fixture(scope="module")
def lazy(play: PreflopPlay, settings: ChainedSettings) -> dict[str, Any]:
    return chained_result(play, replace(settings, lazy=True))


def test_folded_ranges_change_what_hands_are_met(play: PreflopPlay, settings: ChainedSettings) -> None:
    # The flop alone, with few hands.
    few = replace(
        settings,
        ranges=tuple(read_hands("range", text, BOARD[:3]) for text in ("KK,T9s", "QQ,A5s")),
        board=BOARD[:3],
        played=(),
        bet="a",
    )
    equities = [
        chained_result(play, replace(few, folded=folded))["streets"][0]["equity"]["hero"]
        for folded in ((), ("A5s",))
    ]
    # Who folded a pair of aces leaves fewer of them to villain.
    assert equities[1] > equities[0] + 0.005


def test_what_more_than_four_players_folded_is_sampled_with_its_error() -> None:
    first, second = (read_hands("range", text, BOARD) for text in ("KK,T9s", "QQ,A5s"))
    told = {}
    for players in (2, 5):
        settings = StreetSettings(bet="a", raise_="a", folded=("all",) * players, max_iterations=1)
        street = ExactStreet.solve(settings, Start(BOARD, 500, 750, (first, second)), (0.0, 0.0), None)
        assert street.outcome is not None
        told[players] = street.outcome["folded"]
    assert told[2] == {"players": 2, "exact": True, "relative_error": 0.0}
    assert not told[5]["exact"]
    assert 0.0 < told[5]["relative_error"] < 0.1


def test_ranges_reach_the_flop_as_often_as_they_play_the_line(play: PreflopPlay, raw: dict) -> None:
    flop = raw["streets"][0]
    for name, line, label in (("hero", "||p|", "open_250"), ("villain", "||p|b250", "call")):
        carried = flop["ranges"][name]
        shares = {}
        for hole, weight in carried.items():
            hand = CLASS_NAMES[CLASS_OF_COMBO[parse_combo(hole)]]
            shares[hole] = weight / play.by_line[line][hand][label]
            assert not {hole[:2], hole[2:]} & {"Ad", "8h", "9d"}
        assert np.ptp(list(shares.values())) < 1e-9 * max(shares.values())
        assert max(carried.values()) == 1
    assert (flop["pot"], flop["stack"]) == (500, 2250)
    assert 0 < raw["preflop"]["probability"] < 1


def test_every_street_given_is_solved_to_its_target(raw: dict) -> None:
    assert [street["street"] for street in raw["streets"]] == ["flop", "turn", "river"]
    for street in raw["streets"]:
        assert street["solve"]["exploitability_pct"] <= 2.0
        assert sum(street["ev"].values()) == pytest.approx(500, abs=0.05)
        assert sum(street["root"]["frequencies"]) == pytest.approx(1, abs=1e-6)


def test_a_range_comes_to_the_turn_by_its_own_checks(raw: dict) -> None:
    flop, turn = raw["streets"][:2]
    rows = flop["per_history_strategy"]
    for name, history in (("villain", ""), ("hero", "x")):
        checked = {
            hole: weight * rows[f"{hole}|8h9dAd|f|{history}"][0]
            for hole, weight in flop["ranges"][name].items()
            if "2c" not in hole
        }
        top = max(checked.values())
        for hole, weight in turn["ranges"][name].items():
            assert weight == pytest.approx(checked[hole] / top, abs=1e-4)


def test_bets_on_the_way_move_chips_from_stacks_to_pot(play: PreflopPlay, settings: ChainedSettings) -> None:
    turn = replace(settings, board=BOARD[:4], played=("xb500c",), target=20.0)
    street = chained_result(play, turn)["streets"][1]
    assert (street["pot"], street["stack"], street["board"]) == (1500, 1750, "Ad8h9d2c")


def test_lazily_the_flop_alone_is_solved_and_later_streets_are_read_from_it(lazy: dict) -> None:
    flop, turn, river = lazy["streets"]
    assert flop["solve"] is not None
    assert turn["solve"] is river["solve"] is None
    assert (turn["line"], river["line"]) == ("xx/", "xx/xx/")
    assert all("|t|xx/" in key for key in turn["per_history_strategy"])
    assert all("|r|xx/xx/" in key for key in river["per_history_strategy"])
    assert sum(river["ev"].values()) == pytest.approx(500, abs=0.05)


def test_only_rows_of_off_path_hands_are_cleaned(
    play: PreflopPlay, settings: ChainedSettings, lazy: dict
) -> None:
    raw = chained_result(play, replace(settings, lazy=True, clean=False))
    cleaned = 0
    for before, after in zip(raw["streets"], lazy["streets"]):
        assert before["per_history_strategy"].keys() == after["per_history_strategy"].keys()
        for key, row in after["per_history_strategy"].items():
            if row != before["per_history_strategy"][key]:
                assert row == [1.0] + [0.0] * (len(row) - 1)
                cleaned += 1
    counted = [
        count
        for street in lazy["streets"]
        for reasons in street["off_path"].values()
        for reason, count in reasons.items()
        if reason != "rarely_reached"
    ]
    assert 0 < cleaned <= sum(counted)


def test_the_rows_are_what_the_off_path_module_reads(raw: dict) -> None:
    flop = raw["streets"][0]
    counts = dict.fromkeys(flop["ranges"], 0)
    for history in flop["actions"]:
        oop = len(re.findall(r"[xcA]|[br]\d+", history)) % 2 == 0
        name = "villain" if oop else "hero"
        reasons = mark_off_path_with_reason(
            flop["per_history_strategy"],
            flop["ranges"][name],
            board="Ad8h9d",
            history=history,
            hero_is_oop=oop,
        )
        counts[name] += sum(reason is not None for reason in reasons.values())
    assert counts == {name: sum(reasons.values()) for name, reasons in flop["off_path"].items()}


def test_without_a_line_the_ranges_take_the_one_they_play_most(
    play: PreflopPlay, settings: ChainedSettings
) -> None:
    limpers = np.zeros(1326)
    limps = {hand: row["call"] for hand, row in play.by_line["||p|"].items()}
    hand = max(limps, key=lambda name: limps[name])
    limpers[CLASS_NAMES.index(hand) == CLASS_OF_COMBO] = 1.0
    chosen = replace(settings, ranges=(limpers, settings.ranges[1]), line=None, board=BOARD[:3], played=())
    assert chained_result(play, replace(chosen, target=20.0))["preflop"]["line"].startswith("c")


@pytest.fixture(scope="module")
def searched() -> dict[str, Any]:
    """Two streets on top of a tiny blueprint."""
    tiny = small_spots.blueprint()
    table = solve_preflop(small_spots.GAME, iterations=100).strategy.by_line()
    board = tuple(int(card) for card in parse_board(small_spots.TURN))
    hands = tuple(read_hands("range", text, board) for text in small_spots.THIN)
    settings = ChainedSettings(
        ranges=(hands[0], hands[1]),
        board=board,
        line="b250c",
        played=("xb300c",),
        bet="75%",
        raise_="a",
        depth=1,
        max_iterations=40,
        clean=False,
    )
    return chained_result(PreflopPlay(small_spots.GAME, table, {"source": "live"}), settings, blueprint=tiny)


def test_on_a_blueprint_every_street_is_searched_with_the_sizes_that_were_played(searched: dict) -> None:
    flop, turn = searched["streets"]
    assert (flop["pot"], flop["stack"], turn["pot"], turn["stack"]) == (500, 1250, 1100, 950)
    assert (flop["root"]["player"], turn["root"]["player"]) == ("villain", "villain")
    assert "b300" in flop["actions"]["x"]
    for street in (flop, turn):
        assert (street["solve"]["depth"], street["solve"]["exploitability_pct"]) == (1, None)
        assert sum(street["ev"].values()) == pytest.approx(street["pot"], rel=0.02)
    lines = list(
        chained_lines(searched | {"preflop": searched["preflop"] | {"game": "g", "exploitability_mbb": 0.0}})
    )
    assert sum("solved: street by street, depth 1, after 40 iterations" in line for line in lines) == 2


def test_on_a_blueprint_ranges_come_to_the_turn_by_their_own_actions(searched: dict) -> None:
    flop, turn = searched["streets"]
    rows = flop["per_history_strategy"]
    calls = flop["actions"]["xb300"].index("c")
    for name, steps in (
        ("villain", (("", 0), ("xb300", calls))),
        ("hero", (("x", flop["actions"]["x"].index("b300")),)),
    ):
        played = {
            hole: weight * np.prod([rows[f"{hole}|2hJhQs|f|{history}"][action] for history, action in steps])
            for hole, weight in flop["ranges"][name].items()
            if "8d" not in hole
        }
        top = max(played.values())
        for hole, weight in turn["ranges"][name].items():
            assert weight == pytest.approx(played[hole] / top, abs=2e-4)


ARGUMENTS = ["--hero-range", "AA", "--villain-range", "QQ", "--board", "Ad8h9d"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--hero-range", "A9z"], "hero-range: range token 'A9z'"),
        (["--villain-range", "8h8h"], "villain-range: range token '8h8h'"),
        (["--hero-range", "AdAs,Ad8c"], "hero-range: every hand is blocked by the board Ad8h9d"),
        (["--hero-range", ""], "hero-range: the range is empty"),
        (["--board", "Ad8h"], "board"),
        (["--board", "AdAd8h"], "board"),
        (["--line", "b999c"], "'b999' is not possible"),
        (["--line", "b250"], "does not lead to a flop; accepted: cx"),
        (["--postflop-line", "xx"], "plays 1 streets, a board of 3 cards has finished 0"),
        (["--board", "Ad8h9d2c", "--postflop-line", "xb7c"], "postflop-line: line 'xb7c': 'b7'"),
        (["--board", "Ad8h9d2c", "--postflop-line", "x"], "'x' does not end the flop"),
        (["--bet", "half"], "bet"),
        (["--game", "game=hu7"], "game: 'hu7' is not accepted"),
        (["--out", "none/here.json"], "its folder does not exist"),
        (["--depth", "1"], "depth: 1 needs a whole blueprint as bundle; accepted without: full"),
        (["--depth", "deep"], "depth: 'deep' is unknown; accepted: 1, 2, full"),
    ],
)
def test_a_mistake_is_named_before_a_flop_is_solved(changes: list[str], message: str) -> None:
    given = dict(zip(ARGUMENTS[::2], ARGUMENTS[1::2])) | dict(zip(changes[::2], changes[1::2]))
    arguments = [part for pair in given.items() for part in pair]
    done = CliRunner().invoke(app, ["chained", *arguments, "--preflop-iterations", "1"])
    assert isinstance(done.exception, UserError)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)


def test_the_command_prints_json(tmp_path: Path) -> None:
    limits = ["--preflop-iterations", "100", "--target", "20", "--lazy-postflop", "--json"]
    done = CliRunner().invoke(app, ["chained", *ARGUMENTS, "--hero", "bb", *limits])
    assert done.exit_code == 0, done.exception
    result = json.loads(done.stdout)
    assert result["hero"] == {"seat": "bb", "position": "oop"}
    assert set(result["streets"][0]["ranges"]["villain"]) == {
        a + b for a, b in (("Qc", "Qd"), ("Qc", "Qh"), ("Qc", "Qs"), ("Qd", "Qh"), ("Qd", "Qs"), ("Qh", "Qs"))
    }
    file = tmp_path / "result.json"
    done = CliRunner().invoke(app, ["chained", *ARGUMENTS, "--hero", "bb", *limits[:-1], "--out", str(file)])
    assert done.exit_code == 0, done.exception
    lines = done.stdout.splitlines()
    assert lines[0] == "hero (bb, oop) against villain (sb, ip) on Ad8h9d"
    assert lines[-1] == f"written: {file}"
    written = json.loads(file.read_text())
    for street in (*result["streets"], *written["streets"]):
        del street["solve"]["seconds"]
    assert written == result


def test_a_summary_says_for_each_street_who_acts_for_what_and_how_well_it_is_solved(
    play: PreflopPlay, raw: dict, lazy: dict
) -> None:
    source = {"game": "hu25", "exploitability_mbb": 0.5}
    raw, lazy = ({**result, "preflop": result["preflop"] | source} for result in (raw, lazy))
    lines = list(chained_lines(raw))
    assert lines[0] == "hero (sb, ip) against villain (bb, oop) on Ad8h9d2c7s"
    share = raw["preflop"]["probability"]
    assert lines[1] == f"preflop: b250c, played with {share:.2%} of the deals of these ranges"
    assert lines[2] == "  strategy: live solve of hu25, 0.5000 mbb/hand exploitable"
    starts = [lines.index(f"{name}: pot 500, 2250 behind") for name in STREETS_OF_BOARD]
    for start, street in zip(starts, raw["streets"]):
        acts, hero, villain = lines[start + 1 : start + 4]
        frequency = street["root"]["frequencies"][0]
        assert acts.startswith(f"  villain (bb, oop) acts: x {frequency:.1%}, b500 ")
        assert f"EV {street['ev']['hero']:.2f} of 500 chips" in hero
        assert f"equity {street['equity']['villain']:.2%}" in villain
        solve = street["solve"]
        assert f"  solved: {solve['exploitability_pct']:.3f} % of pot exploitable after" in "\n".join(lines)
    assert sum("target reached" in line for line in lines) == 3
    assert all(len(line) < 110 for line in lines)
    later = list(chained_lines(lazy))
    assert later.count("  solved: read from the flop's solve") == 2
    assert any(line.startswith("river Ad8h9d2c7s after xx/xx/: pot 500") for line in later)
