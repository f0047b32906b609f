"""The page in a real Chromium, as a person uses it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from pipelines.explorer.server import create_app
from tests.pipelines.explorer.conftest import FLOP, PATIENCE, RIVER, TURN, served

pytestmark = [pytest.mark.browser, pytest.mark.whole]

BLUEPRINT = "export-global"


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    """The explorer on a port of its own."""
    with served(create_app(store, workers=1)) as found:
        yield found


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """`open_page("?line=b250")`: a new page; at the end of the test nothing may have gone wrong on it."""
    problems: list[str] = []
    pages: list[Page] = []

    def open_at(query: str = "", *, width: int = 1280, height: int = 900) -> Page:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "request", lambda request: problems.append(request.url) if address not in request.url else None
        )
        page.goto(f"{address}/{query}")
        page.wait_for_selector(
            ".legend-action, .deck, .legend .empty, .message:not([hidden])", timeout=PATIENCE
        )
        pages.append(page)
        return page

    yield open_at
    for page in pages:
        page.close()
    assert problems == []


def at(line: str = "", board: str = "", **more: str) -> str:
    parts = {"source": BLUEPRINT, "line": line, "board": board, **more}
    return "?" + "&".join(f"{key}={value}" for key, value in parts.items() if value)


def cell(page: Page, hand: str) -> object:
    return page.locator(f'.cell[data-hand="{hand}"]')


def act(page: Page, token: str) -> None:
    page.locator(f'.legend-action[data-token="{token}"]').click()


def deal(page: Page, *cards: str) -> None:
    for card in cards:
        page.locator(f'.deck-card[data-card="{card}"]').click()


def test_a_hand_is_walked_from_the_first_decision_to_the_river(open_page: Callable[..., Page]) -> None:
    page = open_page(at())
    expect(page.locator(".cell")).to_have_count(169)
    expect(page.locator(".legend-action")).to_have_count(3)
    act(page, "b250")
    # Both seats may call, so wait until it is the other's turn.
    expect(page.locator("#strip .step.now .head b")).to_have_text("BB")
    act(page, "c")
    expect(page.locator(".chooser h2")).to_have_text("Choose the flop")
    deal(page, "Qs", "Jh", "2h")
    expect(page.locator("#strip .step.deal")).to_have_count(1)
    act(page, "x")
    expect(page.locator("#strip .step.now .head b")).to_have_text("SB")
    act(page, "x")
    expect(page.locator(".chooser h2")).to_have_text("Choose the turn")
    # Cards that are on the board cannot come again.
    expect(page.locator('.deck-card[data-card="Jh"]')).to_be_disabled()
    deal(page, "8d")
    act(page, "x")
    expect(page.locator("#strip .step.now .head b")).to_have_text("SB")
    act(page, "x")
    deal(page, "3c")
    expect(page.locator("#strip .step.deal")).to_have_count(3)
    act(page, "x")
    expect(page.locator("#strip .step.now .head b")).to_have_text("SB")
    assert "line=b250c/xx/xx/x" in page.url
    assert f"board={RIVER}" in page.url
    act(page, "x")
    expect(page.locator(".legend .empty")).to_contain_text("hand is over")


def test_typical_boards_are_offered_where_only_they_are_known(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c"))
    expect(page.locator(".typical")).to_contain_text("typical boards only")
    page.locator(".typical button").first.click()
    expect(page.locator(".legend-action").first).to_be_visible()
    page.go_back()
    # At random means one of them.
    page.locator("#random-cards").click()
    expect(page.locator(".legend-action").first).to_be_visible()


def test_an_off_path_cell_is_grey_and_says_why(open_page: Callable[..., Page]) -> None:
    page = open_page(at("cb250"))
    folded = page.locator('.cell[data-hand="72o"]')
    expect(folded).to_have_class(re.compile("off"))
    expect(folded.locator(".value")).to_have_text("—")
    folded.hover()
    expect(page.locator("#tooltip")).to_contain_text("off-path: folded earlier on this line")
    page.locator("#raw").check()
    expect(folded).not_to_have_class(re.compile("off"))
    assert "raw=true" in page.url


def test_a_cell_shows_its_combos_and_filters_find_them(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/xx/x", TURN))
    page.locator('.cell[data-hand="AKs"]').click()
    expect(page.locator(".combos tbody tr")).to_have_count(4)
    page.locator("#all-combos").check()
    expect(page.locator(".combos tbody tr")).to_have_count(150)
    page.locator("#more-combos").click()
    expect(page.locator(".combos tbody tr")).to_have_count(1128)
    expect(page.locator("#more-combos")).to_be_hidden()
    page.get_by_label("made").select_option("set")
    expect(page.locator(".combos tbody tr").first).to_contain_text("set")
    page.get_by_role("tab", name="Range").click()
    expect(page.locator(".category").first).to_be_visible()
    page.get_by_role("tab", name="Plots").click()
    expect(page.locator("svg.plot").first).to_be_visible()
    for mode in ("EV", "Equity", "Reach", "Realisation"):
        page.get_by_role("radio", name=mode, exact=True).click()
        expect(page.locator('.cell[data-hand="AKs"]')).to_have_class(re.compile("heat"))


def test_a_quick_solve_runs_to_its_end_and_is_shown(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/xx/x", TURN, tab="solve"))
    page.locator("#solve-sizes").fill("75%")
    page.locator("#solve-raises").fill("a")
    page.locator("#solve-iterations").fill("4")
    page.locator("#solve-quick").click()
    page.wait_for_url(re.compile("source=subgame-"), timeout=PATIENCE)
    expect(page.locator("#about")).to_contain_text("Solved subgame")
    expect(page.locator(".legend-action").first).to_be_visible()
    # It is listed, and kept: the same question is answered at once.
    expect(page.locator(".solve .state").first).to_have_text("done")
    page.locator("#solve-quick").click()
    expect(page.locator("#progress")).to_contain_text("Kept from an earlier solve")


def test_what_a_solve_takes_is_told_before_it_starts(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/xx/", TURN, tab="solve"))
    told = page.locator("#forecast")
    expect(told).to_contain_text(
        re.compile(r"Memory: quick [\d.]+ [KM]B, deep [\d.]+ MB; the limit is [\d.]+ GB\.")
    )
    before = told.text_content()
    page.locator("#solve-sizes").fill("75%")
    page.locator("#solve-sizes").blur()
    expect(told).not_to_have_text(before or "")
    expect(told).to_contain_text("Memory: quick")


def test_a_solve_is_watched_and_cancelled(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/xx/", TURN, tab="solve"))
    page.locator("#solve-sizes").fill("75%")
    page.locator("#solve-iterations").fill("100000")
    page.locator("#solve-quick").click()
    expect(page.locator("#progress")).to_contain_text("Solving")
    expect(page.locator("#progress")).to_contain_text("of 100,000")
    page.locator("#cancel-solve").click()
    expect(page.locator("#progress")).to_contain_text("Cancelled")
    expect(page.locator("#solve-quick")).to_be_enabled()


def test_a_locked_decision_is_solved_around(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/xx/", TURN, tab="solve"))
    page.locator("#solve-sizes").fill("75%")
    page.locator("#solve-raises").fill("a")
    page.locator("#solve-iterations").fill("3")
    page.locator(".locks summary").click()
    page.get_by_label("Percent of check").fill("100")
    page.locator("#lock-percent").click()
    expect(page.locator(".lock")).to_contain_text("x 100 %")
    page.locator("#solve-quick").click()
    page.wait_for_url(re.compile("source=subgame-"), timeout=PATIENCE)
    expect(page.locator("#about")).to_contain_text("locked at b250c/xx/")
    expect(page.locator('.legend-action[data-token="x"]')).to_contain_text("100.0 %")


def test_two_bundles_are_compared(open_page: Callable[..., Page]) -> None:
    page = open_page(at())
    page.locator("#other").select_option("export-texture")
    expect(page.locator(".cell.differs").first).to_be_visible()
    expect(page.locator("#meaning")).to_contain_text("percent of the strategy that differs")
    assert "other=export-texture" in page.url
    page.locator("#other").select_option("")
    expect(page.locator(".cell.differs")).to_have_count(0)


def test_an_address_can_be_shared_and_the_back_button_goes_back(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/xx/x", TURN, hand="AKs", mode="equity"))
    expect(page.locator('.cell[data-hand="AKs"]')).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("radio", name="Equity", exact=True)).to_have_attribute("aria-checked", "true")
    again = open_page(page.url.partition("/?")[2] and "?" + page.url.partition("/?")[2])
    expect(again.locator("#strip .step")).to_have_count(page.locator("#strip .step").count())
    act(page, "x")
    expect(page.locator(".chooser h2")).to_have_text("Choose the river")
    page.go_back()
    expect(page.locator(".legend-action").first).to_be_visible()
    assert page.url == again.url


def test_the_keyboard_is_enough(open_page: Callable[..., Page]) -> None:
    page = open_page(at())
    page.locator('.cell[data-hand="AA"]').focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator('.cell[data-hand="AKs"]')).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator('.cell[data-hand="KK"]')).to_be_focused()
    expect(page.locator('.cell[data-hand="KK"]')).to_have_attribute("aria-selected", "true")
    page.keyboard.press("3")
    expect(page.locator("#strip .step.now .head b")).to_have_text("BB")
    page.keyboard.press("Backspace")
    expect(page.locator("#strip .step.now .head b")).to_have_text("SB")
    assert "line" not in page.url


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(open_page: Callable[..., Page], width: int) -> None:
    for query in (at("b250c/x", FLOP), at("b250c"), at("b250c/xx/", TURN, tab="solve"), "?page=play"):
        page = open_page(query, width=width) if "page" not in query else open_page("", width=width)
        if "page" in query:
            page.locator("#page-play").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_moves_when_the_values_come(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/xx/x", TURN))
    expect(page.locator(".means")).to_contain_text("equity")
    before = page.locator("#grid").bounding_box()
    expect(page.locator(".means")).to_contain_text("EV")
    assert page.locator("#grid").bounding_box() == before


def test_light_and_dark(open_page: Callable[..., Page]) -> None:
    page = open_page(at())
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.locator("#theme").click()
    assert page.evaluate(colour) != light
    page.reload()
    expect(page.locator(".legend-action").first).to_be_visible()
    assert page.evaluate(colour) != light


def test_every_cell_and_action_has_a_name_for_readers_of_the_screen(open_page: Callable[..., Page]) -> None:
    page = open_page(at())
    expect(page.locator('.cell[data-hand="AA"]')).to_have_attribute(
        "aria-label", re.compile("AA, 6 combos, .*Open 2.5 100.0 %")
    )
    expect(page.locator(".legend-action").first).to_have_attribute("aria-label", re.compile("Fold, "))
    assert page.locator("button:not([aria-label]):empty").count() == 0


def test_a_table_is_played(open_page: Callable[..., Page]) -> None:
    page = open_page(at())
    page.locator("#page-play").click()
    page.locator("#take-seat").click()
    expect(page.locator(".act, #next-hand").first).to_be_visible()
    for _ in range(3):
        fold = page.locator('.act[data-token="f"], .act[data-token="x"]')
        while page.locator("#next-hand").count() == 0:
            fold.first.click()
            expect(page.locator(".felt.busy")).to_have_count(0)
        expect(page.locator(".reviews h3")).to_be_visible()
        page.locator("#next-hand").click()
        expect(page.locator(".felt.busy")).to_have_count(0)
    expect(page.locator(".felt .facts")).to_contain_text("bb/100")


@pytest.mark.parametrize("name", ["play", "runs"])
def test_other_pages_can_be_opened_by_their_address(open_page: Callable[..., Page], name: str) -> None:
    page = open_page(at())
    page.goto(page.url + f"&page={name}")
    expect(page.locator(f"#{name} h2")).to_be_visible()
    expect(page.locator("#about")).to_contain_text("Blueprint")


def test_plots_of_a_source_without_values_say_what_there_is(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/x", FLOP, tab="plots").replace(BLUEPRINT, f"uniform:{BLUEPRINT}"))
    expect(page.locator("svg.plot")).to_have_count(1)


def test_viewing_as_the_other_seat_says_whose_hands_these_are(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/x", FLOP))
    page.locator("#seat").select_option("bb")
    expect(page.locator("#meaning")).to_contain_text("The grid shows the range of BB; SB acts.")
    assert "seat=bb" in page.url


def test_a_report_leads_to_its_boards(open_page: Callable[..., Page]) -> None:
    page = open_page(at("b250c/xx/xx", TURN))
    expect(page.locator("table.report tbody tr")).to_have_count(48)
    page.get_by_label("Find cards").fill("3c")
    page.locator("table.report tbody tr").first.click()
    expect(page.locator(".legend-action").first).to_be_visible()
    assert f"board={RIVER}" in page.url


@pytest.mark.parametrize(
    "query",
    ["?source=nothing", "?source=export-global&line=b251", "?source=export-global&line=b250c/x&board=AsKsQd"],
)
def test_an_address_that_makes_no_sense_says_so(browser: Browser, address: str, query: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/{query}")
    expect(page.locator("#message")).to_be_visible()
    # There is something to go on from.
    expect(page.locator(".legend-action").first).to_be_visible()
    page.close()


def test_a_deep_solve_goes_on_by_itself_on_the_card_that_is_chosen(open_page: Callable[..., Page]) -> None:
    page = open_page(f"?source={BLUEPRINT}&line=b250c/xx/&board={TURN}&tab=solve")
    page.locator("#solve-sizes").fill("75%")
    page.locator("#solve-raises").fill("a")
    page.locator("#solve-iterations").fill("20")
    page.locator("#solve-deep").click()
    page.wait_for_url(re.compile("source=subgame-"))
    page.goto(page.url.replace("line=b250c/xx/", "line=b250c/xx/xx/").replace(TURN, RIVER))
    expect(page.locator("#legend .legend-action").first).to_be_visible()
    # It is still the solve of the turn that is shown, with its river answered by a solve of its own.
    assert "source=subgame-" in page.url
    expect(page.locator("#about")).to_contain_text("here: b250c/xx/xx/ on")


def test_a_decision_is_locked_and_played_against(open_page: Callable[..., Page]) -> None:
    page = open_page(f"?source={BLUEPRINT}&line=b250&tab=solve")
    page.locator(".locks summary").click()
    page.get_by_label("Percent of call").fill("100")
    page.locator("#lock-agent").click()
    page.wait_for_url(re.compile("source=locked"))
    expect(page.locator("#about")).to_contain_text("locked at b250: c=1")
    expect(page.get_by_role("button", name=re.compile("^Call, 100"))).to_be_visible()
    page.locator("#page-play").click()
    expect(page.locator("#play-opponent")).to_be_disabled()
    page.locator("#take-seat").click()
    page.locator('.act[data-token="b250"]').click()
    expect(page.locator(".story")).to_contain_text("opponent (bb): calls")
