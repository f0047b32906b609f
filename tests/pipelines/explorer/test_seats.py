"""Sources of three seats: they are walked and shown like those of two, and what needs two seats says so."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from artifacts.blueprint.multiway_bundle import MultiwayBundle
from artifacts.bundle import open_bundle
from pipelines.explorer.server import create_app
from tests.pipelines.explorer.conftest import Client, served

Ask = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = [pytest.mark.whole]
SMOKE = (
    "pipelines.blueprint +preset=smoke game=three_max25 cluster=inprocess store.root=store multiway.deals=500"
)


@pytest.fixture(scope="module")
def folder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which a game of three seats was trained on every street."""
    where = tmp_path_factory.mktemp("seats")
    done = run(*SMOKE.split(), cwd=where)
    assert done.returncode == 0, done.stderr
    return where / done.stdout.splitlines()[-1].removeprefix("bundle: ")


@pytest.fixture(scope="module")
def store(folder: Path) -> Path:
    return folder.parent


@pytest.fixture
def bundle(folder: Path) -> MultiwayBundle:
    found = open_bundle(folder)
    assert isinstance(found, MultiwayBundle)
    return found


def test_a_hand_of_three_is_walked_to_the_river(ask: Ask, folder: Path) -> None:
    first = ask("node", source=folder.name)
    assert (first["seat"], [seat["name"] for seat in first["seats"]]) == ("BTN", ["SB", "BB", "BTN"])
    assert [action["leads_to"] for action in first["actions"]] == ["decision"] * 3
    line, board, seats = "", "", []
    for _ in range(30):
        node = ask("node", source=folder.name, line=line, board=board)
        if node["kind"] == "end":
            break
        if node["kind"] == "deal":
            # Only boards with buckets are offered.
            board = node["known_boards"][0]
            continue
        seats.append((node["street"], node["seat"]))
        line = next(action["next"] for action in node["actions"] if action["token"] in "xc")
    assert seats[:3] == [("preflop", "BTN"), ("preflop", "SB"), ("preflop", "BB")]
    assert seats[3:] == [
        (street, seat) for street in ("flop", "turn", "river") for seat in ("SB", "BB", "BTN")
    ]
    assert (node["kind"], len(board)) == ("end", 10)
    assert [step["seat"] for step in node["history"]] == [seat for _, seat in seats]


def test_the_grid_is_that_of_the_bundle_for_every_seat(
    ask: Ask, refused: Callable[..., str], folder: Path, bundle: MultiwayBundle
) -> None:
    node = ask("node", source=folder.name, line="b200", raw=True)
    rows = bundle.preflop("b200")
    assert node["seat"] == "SB"
    for cell, shares in zip(node["grid"], rows.raw_probability):
        assert cell["strategy"] == pytest.approx(shares, abs=1e-6)
    for number, seat in enumerate(("SB", "BB", "BTN")):
        shown = ask("node", source=folder.name, line="b200", seat=seat, raw=True)
        weights = bundle.range("b200", number)
        assert shown["viewing"] == seat
        assert [cell["reach"] for cell in shown["grid"]] == pytest.approx(weights, abs=1e-6)
    assert "seat 'CO': accepted are SB, BB, BTN" in refused("node", 422, source=folder.name, seat="CO")


def test_equity_is_known_where_two_players_are_left(ask: Ask, folder: Path) -> None:
    three = ask("node", source=folder.name, line="b200")
    assert {cell["equity"] for cell in three["grid"]} == {None}
    flop = ask("node", source=folder.name, line="fb200c")["known_boards"][0]
    two = ask("node", source=folder.name, line="fb200c/", board=flop)
    assert [seat["folded"] for seat in two["seats"]] == [False, False, True]
    assert all(0 <= cell["equity"] <= 1 for cell in two["grid"] if cell["equity"] is not None)
    assert two["equity"] is not None
    for node in (three, two):
        assert node["ev"] is None
        assert node["ev_meaning"] == "No EVs here: what each hand wins is known for games of two seats only."
    curves = ask("distribution", source=folder.name, line="fb200c/", board=flop)
    assert [curve["seat"] for curve in curves["equity"]] == ["SB", "BB"]
    assert ask("trace", source=folder.name)["points"] == []


def test_what_needs_two_seats_says_so(
    client: Client, ask: Ask, refused: Callable[..., str], folder: Path
) -> None:
    name = folder.name
    assert "has 3 seats; reports are of games of two" in refused("report", 422, source=name, line="fb200c")
    assert "has 3 seats; this needs a blueprint of two" in refused("node", 422, source=f"uniform:{name}")
    flop = ask("node", source=name, line="fb200c")["known_boards"][0]
    spot = {"kind": "subgame", "source": name, "line": "fb200c/", "board": flop}
    for path, body, sentence in (
        ("solve", spot, "the explorer solves streets of two, and poker-solver subgame solves those of more"),
        ("forecast", spot, "has 3 seats; the explorer solves streets of two"),
        ("solve", {"kind": "preflop", "game": "three_max25"}, "has 3 seats; accepted: games of two"),
        ("play", {"source": name}, "has 3 seats; this needs a blueprint of two"),
    ):
        answer = client.post(f"/api/{path}", json=body)
        assert answer.status_code == 422
        assert sentence in answer.json()["detail"]


def test_games_of_different_seats_are_not_compared(ask: Ask, folder: Path, exported: Path) -> None:
    app = create_app(folder.parent, exported, workers=1)
    answer = Client(app).get("/api/compare", params={"source": folder.name, "other": exported.name})
    detail = answer.json()["detail"]
    assert (answer.status_code, "has 2 seats" in detail) == (422, True)
    assert "only games of as many seats can be compared" in detail
    app.state.solves.close()
    same = ask("compare", source=folder.name, other=folder.name, line="b200")
    assert same["mean"] == 0.0


def test_a_size_that_the_game_does_not_have_is_refused(refused: Ask, folder: Path) -> None:
    for line in ("fb300c", "fb300f"):
        told = refused("node", 422, source=folder.name, line=line)
        assert told == f"line {line!r}: b300 is not known at 'f'; accepted: f, c, b200"


@pytest.mark.browser
def test_the_page_shows_three_seats(browser: Browser, folder: Path) -> None:
    problems: list[str] = []
    with served(create_app(folder.parent, workers=1)) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(f"{address}/?line=b200")
        expect(page.locator(".player-chip")).to_have_count(3)
        expect(page.locator("#strip .step.now .head b")).to_have_text("SB")
        page.locator("#seat").select_option("BTN")
        expect(page.locator("#meaning")).to_contain_text("The grid shows the range of BTN; SB acts.")
        page.get_by_role("radio", name="Equity", exact=True).click()
        expect(page.locator("#meaning")).to_contain_text("Equity is shown where two players are left.")
        page.get_by_role("tab", name="Plots").click()
        expect(page.locator("#panel")).to_contain_text("Equity is drawn where two players are left.")
        page.get_by_role("tab", name="Solve").click()
        expect(page.locator("#panel")).to_contain_text("This game has 3 seats.")
        page.goto(f"{address}/?line=fb200c")
        expect(page.locator("#panel")).to_contain_text("Reports are of games of two.")
        page.locator("#random-cards").click()
        expect(page.locator("#strip .step.now .head b")).to_have_text("SB")
        expect(page.locator(".player-chip.folded")).to_have_text("BTN 25 bb")
        page.close()
    assert problems == []
