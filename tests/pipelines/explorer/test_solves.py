"""Solving from the page: in the background, kept, cancelled, locked, queued."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artifacts.bundle import open_bundle
from artifacts.subgame_bundle import SubgameBundle
from pipelines.explorer import solves as solves_module
from pipelines.explorer.server import create_app
from tests.pipelines.explorer.conftest import RIVER, SMALL, TURN, Client

Ask = Callable[..., Any]
BLUEPRINT = "export-global"
SPOT = {"source": BLUEPRINT, "line": "b250c/xx/x", "board": TURN}
LONG = {"sizes": "75%", "raises": "a", "iterations": 100_000}


def start(client: Client, **request: Any) -> Any:
    answer = client.post("/api/solve", json={"kind": "subgame", **SPOT, **SMALL, **request})
    assert answer.status_code == 202, answer.text
    return answer.json()


def ended(client: Client, model: Any, *, within: float = 120.0) -> Any:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        model = client.get(f"/api/solve/{model['id']}").json()
        if model["state"] in ("done", "cancelled", "failed"):
            return model
        time.sleep(0.05)
    raise AssertionError(f"still {model['state']}")


@pytest.fixture(scope="module")
def solved(client: Client) -> Any:
    """A quick solve of the turn, ended."""
    return ended(client, start(client))


def test_a_solve_is_kept_and_becomes_a_source(client: Client, solved: Any, store: Path, ask: Ask) -> None:
    assert solved["state"] == "done"
    assert (solved["iteration"], solved["cached"]) == (3, False)
    assert 0 < solved["memory_bytes"] < solved["memory_limit"]
    bundle = open_bundle(store / solved["source"])
    assert isinstance(bundle, SubgameBundle)
    node = ask("node", source=solved["source"], line=SPOT["line"], board=TURN, raw=True)
    assert [action["token"] for action in node["actions"]] == list(bundle.solved.actions())
    shares = [action["frequency"] for action in node["actions"]]
    assert shares == pytest.approx(bundle.solved.frequencies(), abs=1e-5)
    about = {source["id"]: source for source in ask("sources")["sources"]}[solved["source"]]
    assert (about["kind"], about["blueprint"], about["board"]) == ("subgame", BLUEPRINT, TURN)


def test_the_same_question_is_answered_at_once_also_by_another_server(
    client: Client, solved: Any, store: Path
) -> None:
    again = start(client)
    assert (again["state"], again["cached"], again["source"]) == ("done", True, solved["source"])
    other = create_app(store, workers=1)
    after_restart = start(Client(other))
    assert (after_restart["cached"], after_restart["source"]) == (True, solved["source"])
    other.state.solves.close()


def test_events_tell_every_change_until_the_end(client: Client) -> None:
    model = start(client, iterations=4)
    answer = client.get(f"/api/solve/{model['id']}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    states = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert states[-1]["state"] == "done"
    assert states[-1]["source"].startswith("subgame-")
    assert [state["iteration"] for state in states] == sorted(state["iteration"] for state in states)


def test_a_running_solve_shows_its_strategy_so_far_and_can_be_cancelled(
    client: Client, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solves_module, "SNAPSHOT_EVERY", 0.0)
    before = set(store.glob("subgame-*"))
    model = start(client, **LONG)
    waiting = start(client, **LONG, safety="resolve")
    deadline = time.monotonic() + 60
    running: Any = {}
    while time.monotonic() < deadline and not running.get("grid"):
        running = client.get(f"/api/solve/{model['id']}", params={"grid": True}).json()
        time.sleep(0.05)
    assert running["state"] == "running"
    assert sum(running["frequencies"]) == pytest.approx(1.0, abs=1e-4)
    assert len(running["grid"]) == 169
    assert running["seconds_left"] > 0
    # One at a time on one worker: the other one waits.
    queued = client.get(f"/api/solve/{waiting['id']}").json()
    assert (queued["state"], queued["position"]) == ("queued", 1)
    assert client.delete(f"/api/solve/{waiting['id']}").json()["state"] == "cancelled"
    client.delete(f"/api/solve/{model['id']}")
    assert ended(client, model)["state"] == "cancelled"
    assert set(store.glob("subgame-*")) == before
    listed = [one["id"] for one in client.get("/api/solves").json()["solves"]]
    assert listed.index(waiting["id"]) < listed.index(model["id"])


def test_ranges_go_on_from_a_solved_street(client: Client, solved: Any, ask: Ask, store: Path) -> None:
    """The river of a solved turn starts with what the turn's solution leaves of both ranges."""
    line = "b250c/xx/xx"
    here = ask("node", source=solved["source"], line=line, board=RIVER)
    assert (here["answered_by"], here["can_solve"]) == (BLUEPRINT, True)
    assert "not part of the solve" in here["note"]
    river = ended(client, start(client, source=solved["source"], line=line + "/", board=RIVER))
    turn, after = open_bundle(store / solved["source"]), open_bundle(store / river["source"])
    assert isinstance(turn, SubgameBundle)
    assert isinstance(after, SubgameBundle)
    for seat in range(2):
        left = turn.solved.range(seat, line)
        start_of_river = after.solved.ranges[seat]
        held = start_of_river > 0
        expected = left[held] / left[held].max()
        assert start_of_river[held] == pytest.approx(expected, rel=1e-4)


def test_sizes_that_only_a_solve_has_can_be_solved_further(client: Client, ask: Ask) -> None:
    """A bet of 75 % on the turn is not in the blueprint, so the river behind it must be solved to be seen."""
    turn = ended(client, start(client, line="b250c/xx/"))
    bet = ask("node", source=turn["source"], line="b250c/xx/", board=TURN)["actions"][1]
    called = ask("node", source=turn["source"], line=bet["next"] + "c", board=TURN)
    assert (called["kind"], called["cards_needed"]) == ("deal", 1)
    river = ask("node", source=turn["source"], line=bet["next"] + "c", board=RIVER)
    assert (river["kind"], river["can_solve"], river["street"]) == ("unsolved", True, "river")
    assert [seat["acts"] for seat in river["seats"]] == [False, True]
    assert river["pot"] == 500 + 2 * bet["to"]
    solved = ended(client, start(client, source=turn["source"], line=river["line"], board=RIVER))
    node = ask("node", source=solved["source"], line=river["line"], board=RIVER)
    assert (node["kind"], node["seat"]) == ("decision", "bb")
    # The strip still tells the bet, though only the solve of the turn knew it.
    taken = [step["actions"][step["taken"]]["token"] for step in node["history"]]
    assert taken == ["b250", "c", "x", "x", bet["token"], "c"]


def test_a_locked_decision_is_played_as_given(client: Client, ask: Ask) -> None:
    lock = {"line": "b250c/xx/", "strategy": {"x": 1.0}}
    done = ended(client, start(client, line="b250c/xx/", locks=[lock]))
    assert done["state"] == "done"
    node = ask("node", source=done["source"], line="b250c/xx/", board=TURN)
    assert node["actions"][0]["frequency"] == pytest.approx(1.0, abs=1e-6)
    about = {source["id"]: source for source in ask("sources")["sources"]}[done["source"]]
    assert about["locked"] == ["b250c/xx/"]
    shown = {"line": "b250c/xx/", "source": done["source"]}
    again = ended(client, start(client, line="b250c/xx/", locks=[shown]))
    assert again["state"] == "done"


@pytest.fixture(scope="module")
def deep(client: Client) -> Any:
    """A turn solved to the river, ended; what it takes was told when it was asked for."""
    model = start(client, line="b250c/xx/", depth="deep", iterations=60)
    assert model["memory_bytes"] > 0
    return ended(client, model)


def test_a_deep_solve_goes_on_to_the_river(client: Client, deep: Any, ask: Ask, store: Path) -> None:
    """The street of a chosen card is solved from the ranges that the deep solve left, and is then part of it."""
    turn = ask("node", source=deep["source"], line="b250c/xx/", board=TURN)
    bet = turn["actions"][1]["next"] + "c"
    for line in ("b250c/xx/xx", bet):
        here = ask("node", source=deep["source"], line=line, board=RIVER)
        assert (here["kind"], here["goes_on"], here["can_solve"]) == ("unsolved", True, True)
        assert "from the ranges that the street before left" in here["note"]
        request = {"kind": "next_street", "source": deep["source"], "line": line, "board": RIVER}
        answer = client.post("/api/solve", json=request)
        assert answer.status_code == 202, answer.text
        done = ended(client, answer.json())
        river = ask("node", source=deep["source"], line=line, board=RIVER)
        assert (river["kind"], river["answered_by"]) == ("decision", done["source"])
        kept, before = open_bundle(store / done["source"]), open_bundle(store / deep["source"])
        assert isinstance(kept, SubgameBundle)
        assert isinstance(before, SubgameBundle)
        assert (kept.parent_key, kept.solved.iterations) == (before.key, 60)
        left = before.solved.range(1, line)
        held = kept.solved.ranges[1] > 0
        assert kept.solved.ranges[1][held] == pytest.approx(left[held] / left[held].max(), rel=1e-4)
        # Asked again, it is there.
        assert client.post("/api/solve", json=request).json()["cached"] is True
    # Another river of the same line is not solved yet.
    other = ask("node", source=deep["source"], line="b250c/xx/xx", board=TURN + "9h")
    assert other["goes_on"] is True


def test_earlier_streets_are_told_by_the_solve_that_made_them(client: Client, deep: Any, ask: Ask) -> None:
    river = ended(client, start(client, source=deep["source"], line="b250c/xx/xx/", board=RIVER))
    back = ask("node", source=river["source"], line="b250c/xx/", board=TURN)
    assert (back["answered_by"], back["kind"]) == (deep["source"], "decision")
    flop = ask("node", source=river["source"], line="b250c/", board=TURN[:6])
    assert flop["answered_by"] == BLUEPRINT
    shown = ask("node", source=river["source"], line="b250c/xx/xx/", board=RIVER)
    told = [step["answered_by"] for step in shown["history"]]
    assert told == [BLUEPRINT] * 4 + [deep["source"]] * 2
    by_turn = ask("node", source=deep["source"], line="b250c/xx/x", board=TURN)
    assert shown["history"][5]["actions"] == by_turn["actions"]
    # Solved again from the river's solve, the flop starts with the blueprint's ranges, and the turn as it did.
    for line, board in (("b250c/", TURN[:6]), ("b250c/xx/", TURN)):
        again = client.post(
            "/api/solve",
            json={"kind": "subgame", **SMALL, "source": river["source"], "line": line, "board": board},
        )
        assert again.status_code == 202, again.text
        client.delete(f"/api/solve/{again.json()['id']}")


def test_a_street_is_not_skipped(client: Client, ask: Ask) -> None:
    flop = ended(client, start(client, line="b250c/", board=TURN[:6], depth="deep", iterations=2))
    assert ask("node", source=flop["source"], line="b250c/xx", board=TURN)["goes_on"] is True
    for kind in ("next_street", "subgame"):
        request = {"kind": kind, "source": flop["source"], "line": "b250c/xx/xx/", "board": RIVER}
        answer = client.post("/api/solve", json=request)
        assert (answer.status_code, "solve the turn first" in answer.json()["detail"]) == (422, True)


def test_a_deep_solve_measures_how_exploitable_it_is(client: Client) -> None:
    river = {"line": "b250c/xx/xx/", "board": RIVER, "depth": "deep", "iterations": 60}
    for target in ({"target_pct": 0.01}, {}):
        model = start(client, **river, **target)
        states = client.get(f"/api/solve/{model['id']}/events").text.split("\n\n")
        last = json.loads(states[-2].removeprefix("data: "))
        assert last["state"] == "done"
        assert last["exploitability"] > 0
        assert last["unit"] == "% of pot"


def test_a_game_is_solved_before_the_flop(client: Client, ask: Ask) -> None:
    answer = client.post("/api/solve", json={"kind": "preflop", "game": "hu25", "iterations": 50})
    done = ended(client, answer.json())
    assert done["state"] == "done"
    assert done["unit"] == "mbb/hand"
    node = ask("node", source=done["source"])
    aces = node["grid"][0]
    assert aces["strategy"][0] == pytest.approx(0.0, abs=1e-3)  # aces never fold
    closed = ask("node", source=done["source"], line=node["actions"][1]["next"] + "x")
    assert closed["kind"] == "end"
    assert "checked down" in closed["note"]


def test_solved_boards_make_a_report(client: Client, solved: Any, ask: Ask) -> None:
    data = ask("report", source=BLUEPRINT, line="b250c/xx", board=TURN[:6], solved=True)
    assert [row["board"] for row in data["rows"]] == [TURN] * len(data["rows"])
    assert solved["source"] in [row["source"] for row in data["rows"]]
    assert all(row["ev"] > 0 for row in data["rows"])


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"line": "b250", "board": ""}, "board: 0 cards"),
        ({"line": "b250c/xx/x", "board": "QsJh2h"}, "is on the turn, which has 4"),
        ({"sizes": "75"}, "sizes: size '75' is not understood"),
        ({"source": "always-call:export-global"}, "only a blueprint or a subgame"),
        ({"iterations": 0}, "iterations: Input should be greater than or equal to 1"),
        ({"iterations": 10**9}, "iterations: Input should be less than or equal to 100000"),
        ({"depth": "deepest"}, "depth: Input should be 'quick' or 'deep'"),
        ({"locks": [{"line": "b250c/xx/", "strategy": {"x": 0.5}}]}, "lock: the probabilities sum to 0.5"),
        ({"locks": [{"line": "b250c/xx/"}]}, "locks: give a strategy, or the source"),
        ({"unknown": 1}, "unknown: Extra inputs are not permitted"),
        ({"kind": "next_street"}, "sizes: Extra inputs are not permitted"),
    ],
)
def test_a_solve_that_makes_no_sense_is_refused(client: Client, request_: Any, message: str) -> None:
    answer = client.post("/api/solve", json={"kind": "subgame", **SPOT, **SMALL, **request_})
    assert answer.status_code == 422
    assert message in answer.json()["detail"]


def test_a_solve_that_needs_too_much_memory_is_refused_before_it_starts(store: Path) -> None:
    app = create_app(store, workers=1)
    app.state.solves.memory_limit = 1000
    client = Client(app)
    for depth in ("quick", "deep"):
        answer = client.post(
            "/api/solve", json={"kind": "subgame", **SPOT, **SMALL, "depth": depth, "iterations": 11}
        )
        assert answer.status_code == 422
        assert "over the limit of 0 MiB; use fewer sizes" in answer.json()["detail"]
    assert client.get("/api/solves").json()["solves"] == []
    app.state.solves.close()


def test_what_a_solve_takes_is_told_before_it_is_asked_for(client: Client, solved: Any, store: Path) -> None:
    request = {"kind": "subgame", **SPOT, **SMALL}
    quick = client.post("/api/forecast", json=request).json()
    assert quick["kept"] == solved["source"]
    limit = quick["memory_limit"]
    fresh = {**request, "iterations": 7, "line": "b250c/xx/"}
    before = client.get("/api/solves").json()
    told = {
        depth: client.post("/api/forecast", json={**fresh, "depth": depth}).json()
        for depth in ("quick", "deep")
    }
    assert 0 < told["quick"]["memory_bytes"] < told["deep"]["memory_bytes"] < limit
    assert told["deep"]["kept"] is None
    # Nothing was started, and what is told is what the solve then says.
    assert client.get("/api/solves").json() == before
    model = start(client, **{"line": fresh["line"], "iterations": 7, "depth": "deep"})
    assert model["memory_bytes"] == told["deep"]["memory_bytes"]
    ended(client, model)
    # What is over the limit is told as well, and what is kept can be shown whatever it took.
    small = create_app(store, workers=1)
    small.state.solves.memory_limit = 1000
    assert Client(small).post("/api/forecast", json=request).json()["memory_bytes"] > 1000
    assert Client(small).post("/api/solve", json=request).json()["cached"] is True
    small.state.solves.close()
    wrong = client.post("/api/forecast", json={**request, "sizes": "75"})
    assert (wrong.status_code, "size '75' is not understood" in wrong.json()["detail"]) == (422, True)


def test_no_more_than_so_many_solves_wait(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solves_module, "MAX_WAITING", 0)
    app = create_app(store, workers=1)
    client = Client(app)
    first = start(client, **LONG, seconds=30)
    answer = client.post("/api/solve", json={"kind": "subgame", **SPOT, **LONG, "safety": "reach"})
    assert answer.status_code == 429
    client.delete(f"/api/solve/{first['id']}")
    app.state.solves.close()
