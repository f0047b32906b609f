"""The table: hands against the blueprint, settled and looked at afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstractions.cards import COMBO_CARDS, parse_cards, parse_combo
from abstractions.evaluator import evaluate
from artifacts import open_blueprint
from pipelines.explorer import hands
from pipelines.explorer.hands import Table
from pipelines.explorer.models import SeatRequest
from pipelines.explorer.positions import played
from solver.subgame import HandSolver, SubgameConfig
from tests.pipelines.explorer.conftest import Client

BLUEPRINT = "export-global"


def sit(client: Client, **request: Any) -> Any:
    answer = client.post("/api/play", json={"source": BLUEPRINT, "seed": 1, **request})
    assert answer.status_code == 201, answer.text
    return answer.json()


def act(client: Client, table: Any, token: str) -> Any:
    answer = client.post(f"/api/play/{table['id']}/act", json={"token": token})
    assert answer.status_code == 200, answer.text
    return answer.json()


def deal(client: Client, table: Any) -> Any:
    return client.post(f"/api/play/{table['id']}/deal", json={}).json()


def test_folding_every_hand_loses_the_blinds(client: Client) -> None:
    """The person folds, or checks where it need not: the button loses half a blind."""
    table = sit(client)
    assert (table["seat"], table["line"], table["hand"]) == ("sb", "", 1)
    assert table["opponent_cards"] is None
    table = act(client, table, "f")
    assert (table["over"], table["won"], table["hands_played"]) == (True, -0.5, 1)
    assert table["opponent_cards"] is None
    assert table["review"][0]["actions"] == ["fold", "call", "open_250"]
    assert table["mean"] == pytest.approx(-50.0)
    table = deal(client, table)
    assert (table["seat"], table["hand"], table["over"]) == ("bb", 2, False) or table["over"]


def test_the_review_is_what_the_blueprint_says(client: Client, exported: Path) -> None:
    table = act(client, sit(client, seed=5), "f")
    bundle, review = open_blueprint(exported), table["review"][0]
    strategy = bundle.strategy("", table["cards"], clean=False)
    assert review["strategy"] == pytest.approx(list(strategy.values()), abs=1e-5)
    values = [value for value in review["ev"] if value is not None]
    assert review["ev"][0] == -0.5
    assert review["lost"] == pytest.approx(max(values) - review["ev"][0], abs=1e-3)


def play_passively(table: Table) -> None:
    """Check and call to the end."""
    while table.hand.won is None:
        tokens = table._offer(table.hand.person).tokens
        table.act(next(token for token in ("x", "c") if token in tokens))


def test_hands_are_settled_by_the_cards(exported: Path) -> None:
    """Called down, the better hand wins what the other has put in, and nobody else gets anything."""
    table = Table(open_blueprint(exported), SeatRequest(source=BLUEPRINT, seed=3))
    showdowns = 0
    for _ in range(12):
        hand = table.hand
        play_passively(table)
        assert hand.won is not None
        _, state, _ = played(table.bundle.game, hand.line)
        at_stake = min(state.committed) / 100
        if hand.shown:
            showdowns += 1
            seven = [[*hand.hole(seat), *hand.deck[4:9]] for seat in range(2)]
            strengths = evaluate(np.array(seven, dtype=np.uint8)).astype(int)
            assert hand.won == np.sign(strengths[hand.person] - strengths[1 - hand.person]) * at_stake
        else:
            assert hand.won == at_stake  # the person never folds
        table.next_hand()
    assert showdowns > 3
    mean, interval = table._summary()
    assert mean == pytest.approx(100 * np.mean(table.results))
    assert interval == pytest.approx(196 * np.std(table.results, ddof=1) / np.sqrt(len(table.results)))


def test_an_opponent_that_solves_plays_whole_hands(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "SOLVING", SubgameConfig(sizes="75%", raises="a", iterations=2, run_outs=1))
    table = Table(open_blueprint(exported), SeatRequest(source=BLUEPRINT, seed=4, opponent="subgame"))
    # A river that was dealt: only its turn and flop have buckets in the tiny game.
    table.hand = hands.Hand(0, [*parse_cards("AcAd9c9d").tolist(), *parse_cards("QsJh2h8d3c").tolist()])
    table._solver = HandSolver(table.bundle.blueprint, hands.SOLVING)
    for token in ("b250", "c", "/", "x", "x", "/", "x", "x", "/"):
        if token == "/":
            table._next_street(table.hand.line.count("/") + 1)
        else:
            table._take(0, token)
    table._play_on()
    play_passively(table)
    hand = table.hand
    _, state, _ = played(table.bundle.game, hand.line)
    assert hand.won == pytest.approx(min(state.committed) / 100)  # aces beat nines
    assert all(step.lost is None or step.lost >= 0 for step in hand.review)
    assert hand.review[-1].line.count("/") == 3


def test_an_action_out_of_turn_or_off_the_menu_is_refused(client: Client) -> None:
    table = sit(client)
    answer = client.post(f"/api/play/{table['id']}/act", json={"token": "b999"})
    assert (answer.status_code, "accepted: f c b250" in answer.json()["detail"]) == (422, True)
    answer = client.post(f"/api/play/{table['id']}/deal", json={})
    assert (answer.status_code, answer.json()["detail"]) == (422, "the hand is not over; act first")
    act(client, table, "f")
    answer = client.post(f"/api/play/{table['id']}/act", json={"token": "f"})
    assert "deal the next one" in answer.json()["detail"]
    assert client.get("/api/play/none").status_code == 404
    assert client.get(f"/api/play/{table['id']}").json()["hands_played"] == 1
    answer = client.post("/api/play", json={"source": f"uniform:{BLUEPRINT}", "opponent": "subgame"})
    assert "uniform does not solve" in answer.json()["detail"]


def test_agents_sit_down_too(client: Client) -> None:
    """Always-fold gives up the blinds; the person's decisions are still looked at by the blueprint."""
    table = act(client, sit(client, source=f"always-fold:{BLUEPRINT}"), "b250")
    assert (table["over"], table["won"], table["line"]) == (True, 1.0, "b250f")
    assert sum(table["review"][0]["strategy"]) == pytest.approx(1.0)
    # As the small blind it folds at once, and the person has nothing to decide.
    table = deal(client, table)
    assert (table["over"], table["won"], table["review"]) == (True, 0.5, [])
    assert (table["hands_played"], table["mean"]) == (2, 75.0)


def test_a_locked_strategy_sits_down_too(client: Client) -> None:
    """It calls every raise before the flop, and plays the blueprint after it."""
    table = sit(client, source=f"locked:{BLUEPRINT}|b250|c=1")
    for _ in range(4):
        if table["seat"] == "sb":
            table = act(client, table, "b250")
            assert table["line"].startswith("b250c/")
        while not table["over"]:
            tokens = [action["token"] for action in table["actions"]]
            table = act(client, table, next(token for token in ("f", "x") if token in tokens))
        table = deal(client, table)


def test_cards_are_not_told_before_they_are_shown(client: Client) -> None:
    table = sit(client, seed=9)
    assert set(parse_cards(table["cards"]).tolist()) == set(COMBO_CARDS[parse_combo(table["cards"])].tolist())
    assert table["opponent_cards"] is None
    assert table["board"] == ""
