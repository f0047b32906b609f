"""The grammar of lines: tokens, streets, seats, and lines walked through real trees."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.betting import lines
from solver.betting.game import GameConfig
from solver.betting.lines import (
    FLOP,
    PREFLOP,
    PREFLOP_PREFIX,
    PUBLIC_CARDS,
    RIVER,
    STREET_LETTERS,
    STREETS,
    TURN,
    Letter,
    action_order,
    chips,
    format_line,
    history_key,
    is_line,
    parse_line,
    parse_seat,
    postflop_history,
    scaled,
    seat_names,
    split_street,
    street_of,
    tokens,
    walk,
    with_prefix,
    without_prefix,
)
from solver.betting.public_tree import LETTER_OF
from solver.betting.tree import Action, NodeKind, PublicTree, game_tree, spot_tree

PLAIN_TOKENS = st.sampled_from(["f", "x", "c", "A"])
SIZED_TOKENS = st.builds("{}{}".format, st.sampled_from("br"), st.integers(0, 10**8))
BY_STREET = st.lists(st.lists(PLAIN_TOKENS | SIZED_TOKENS, max_size=6), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def two_seats() -> PublicTree:
    return game_tree(GameConfig(stacks=(2000, 2000)))


@pytest.fixture(scope="module")
def three_seats() -> PublicTree:
    config = GameConfig(stacks=(1000, 1000, 1000), raise_sizes=("2.5", "a"), raise_cap=2)
    return game_tree(config, last_street=FLOP)


def test_reading_lines_needs_no_compiler_and_no_arrays() -> None:
    program = "import sys, solver.betting.lines; print({'numba', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# ---- text ----------------------------------------------------------------------------------------


@given(BY_STREET)
def test_printing_and_parsing_are_inverse(streets: list[list[str]]) -> None:
    line = format_line(streets)
    assert parse_line(line) == streets
    assert parse_line(with_prefix(line)) == streets
    assert "".join(tokens(line)) == line
    assert is_line(line)
    assert is_line(with_prefix(line))
    assert street_of(line) == len(streets) - 1
    before, now = split_street(line)
    assert before + now == line
    assert now == "".join(streets[-1])


@given(st.data())
def test_every_line_of_a_real_tree_is_read_as_it_is_printed(
    two_seats: PublicTree, data: st.DataObject
) -> None:
    node = data.draw(st.integers(0, len(two_seats) - 1))
    line = two_seats.line(node)
    assert format_line(parse_line(line)) == line
    assert two_seats.node_at(line) == node
    assert two_seats.node_at(with_prefix(line)) == node
    assert street_of(line) == two_seats.street[node]


@given(PLAIN_TOKENS | SIZED_TOKENS, st.floats(0.01, 100))
def test_scaling_changes_the_chips_alone(token: str, scale: float) -> None:
    assert scaled(token, 1.0) == token
    assert scaled(token, scale)[0] == token[0]
    assert chips(scaled(token, scale)) == round(chips(token) * scale)
    assert (len(scaled(token, scale)) > 1) == (len(token) > 1)


def test_a_scaled_line_leads_to_the_same_node(two_seats: PublicTree) -> None:
    for node in range(0, len(two_seats), 97):
        line = two_seats.line(node)
        doubled = "".join(scaled(token, 2.0) for token in tokens(line))
        assert two_seats.node_at(doubled, scale=2.0) == node
        if node:
            assert two_seats.token(node, 2.0) == scaled(two_seats.token(node), 2.0)


def test_the_prefix_belongs_to_preflop_keys_and_may_be_left_out() -> None:
    assert PREFLOP_PREFIX == "||p|"
    assert with_prefix("b250") == with_prefix("||p|b250") == "||p|b250"
    assert without_prefix("||p|b250") == without_prefix("b250") == "b250"
    assert tokens("||p|") == tokens("") == []
    assert parse_line("||p|") == parse_line("") == [[]]


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("b250k", "k"),
        ("z", "z"),
        ("b", "b"),
        ("b250r", "r"),
        ("||p|c||p|", "||p|"),
        ("X", "X"),
        ("b 250", "b 250"),
    ],
)
def test_a_token_that_cannot_be_read_is_named(line: str, rest: str) -> None:
    message = f"line {line!r}: no token at {rest!r}; accepted: f x c b<to> r<to> A /"
    for read in (
        tokens,
        parse_line,
        lambda text: walk(text, 0, lambda _: dict.fromkeys(tokens("xcb250"), 0)),
    ):
        with pytest.raises(ValueError, match="no token") as error:
            read(line)
        assert str(error.value) == message
    assert not is_line(line)


def test_every_action_of_the_rules_has_a_letter() -> None:
    assert LETTER_OF.keys() == set(Action) - {Action.NONE}
    assert {LETTER_OF[Action[letter.name]] for letter in Letter} == set("fxcbrA/")


# ---- walking -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b251", "line 'b251': 'b251' is not possible after the start; accepted: f c b250"),
        ("||p|b250x", "line '||p|b250x': 'x' is not possible after b250; accepted: f c r750"),
        ("b250c/f", "line 'b250c/f': 'f' is not possible after b250c/; accepted: x b250 b500"),
        ("b250c/xx/", None),
        ("b250fx", "line 'b250fx': 'x' is not possible after b250f; accepted: nothing, the line ends there"),
        ("b250f/", "line 'b250f/': '/' is not possible after b250f; accepted: nothing, the line ends there"),
        ("b999z", "line 'b999z': 'b999' is not possible after the start; accepted: f c b250"),
    ],
)
def test_a_token_that_is_not_possible_is_named(two_seats: PublicTree, line: str, message: str | None) -> None:
    if message is None:
        assert two_seats.line(two_seats.node_at(line)) == line
        return
    with pytest.raises(ValueError, match="not possible") as error:
        two_seats.node_at(line)
    assert str(error.value) == message


def test_a_walk_may_begin_behind_the_start(two_seats: PublicTree) -> None:
    flop = two_seats.node_at("b250c/")
    below = two_seats.node_at("b250c/xb250")
    assert two_seats.node_at("b250c/xb250", root=flop, start="b250c/") == below
    assert two_seats.node_at("||p|b250c/xb250", root=flop, start="b250c/") == below
    with pytest.raises(
        ValueError, match=r"line 'b250c/xb9': 'b9' is not possible after b250c/x; accepted: x b"
    ):
        two_seats.node_at("b250c/xb9", root=flop, start="b250c/")


def test_anything_that_knows_its_actions_can_be_walked() -> None:
    def offered(checks_left: int) -> dict[str, int]:
        return {"x": checks_left - 1} if checks_left else {}

    assert walk("xxx", 3, offered) == [3, 2, 1, 0]
    with pytest.raises(
        ValueError, match="'x' is not possible after xxx; accepted: nothing, all have checked"
    ):
        walk("xxxx", 3, offered, nothing="all have checked")


def test_folds_stand_inside_the_lines_of_three_seats(three_seats: PublicTree) -> None:
    seen = {three_seats.line(node): node for node in range(len(three_seats))}
    assert len(seen) == len(three_seats)
    for line, node in seen.items():
        assert three_seats.node_at(line) == node
        assert format_line(parse_line(line)) == line
        assert three_seats.folded[node].sum() == tokens(line).count("f")
    # The button folds and the blinds play on; the big blind bets the flop and the small blind folds.
    assert {"f", "fc", "fcx/", "fcx/xb100", "fcx/xb100f"} <= seen.keys()
    decision = three_seats.node_at("f")
    assert three_seats.kind[decision] == NodeKind.DECISION
    assert seat_names(3)[three_seats.player[decision]] == "SB"


def test_a_fold_ends_a_line_of_two_seats(two_seats: PublicTree) -> None:
    folds = np.flatnonzero(two_seats.action == Action.FOLD)
    assert len(folds)
    assert not two_seats.num_children[folds].any()


# ---- streets and keys ----------------------------------------------------------------------------


def test_streets_have_names_letters_and_cards() -> None:
    assert STREETS == ("preflop", "flop", "turn", "river")
    assert STREET_LETTERS == "pftr"
    assert [PUBLIC_CARDS[street] for street in (PREFLOP, FLOP, TURN, RIVER)] == [0, 3, 4, 5]


def test_keys_of_rows_after_the_flop() -> None:
    assert postflop_history("b250c/xb300c/x") == "xb300c/x"
    assert postflop_history("||p|b250") == ""
    key = history_key("2d5s7cKhAs", RIVER, "xx/xx/xb50", hole="KcAh")
    assert key == "KcAh|2d5s7cKhAs|r|xx/xx/xb50"
    assert history_key("2d5s7c", FLOP, "") == "|2d5s7c|f|"


# ---- seats ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("num_seats", "names"),
    [
        (2, "sb bb"),
        (3, "SB BB BTN"),
        (4, "SB BB CO BTN"),
        (5, "SB BB HJ CO BTN"),
        (6, "SB BB UTG HJ CO BTN"),
        (7, "SB BB UTG UTG1 HJ CO BTN"),
        (8, "SB BB UTG UTG1 UTG2 HJ CO BTN"),
        (9, "SB BB UTG UTG1 UTG2 UTG3 HJ CO BTN"),
    ],
)
def test_positions_by_name(num_seats: int, names: str) -> None:
    assert seat_names(num_seats) == tuple(names.split())
    for seat, name in enumerate(seat_names(num_seats)):
        assert parse_seat(name, num_seats) == parse_seat(name.lower(), num_seats) == seat
        assert parse_seat(seat, num_seats) == parse_seat(np.int8(seat), num_seats) == seat


@pytest.mark.parametrize("num_seats", range(2, 10))
def test_the_trees_act_in_the_order_of_the_positions(num_seats: int) -> None:
    tree = game_tree(
        GameConfig(stacks=(1000,) * num_seats, limp=False, raise_sizes=("a",), raise_cap=1),
        last_street=PREFLOP,
    )
    folds = [tree.node_at("f" * k) for k in range(num_seats - 1)]
    assert tuple(tree.player[folds]) == action_order(num_seats, PREFLOP)[:-1]
    after_flop = action_order(num_seats, FLOP)
    assert sorted(after_flop) == list(range(num_seats))
    button = 0 if num_seats == 2 else num_seats - 1
    assert after_flop[-1] == button


def test_players_after_the_flop_are_out_of_and_in_position() -> None:
    tree = spot_tree(FLOP, 200, 900, {"flop": {"bet": "50%"}})
    assert lines.PLAYERS[tree.player[tree.node_at("")]] == "oop"
    assert lines.PLAYERS[tree.player[tree.node_at("x")]] == "ip"


def test_a_seat_that_is_unknown_is_named() -> None:
    accepted = "accepted are 0 or sb (acts first before the flop), 1 or bb"
    for player in ("utg", "0", "", 2, -1):
        with pytest.raises(ValueError, match="player") as error:
            parse_seat(player)
        assert str(error.value) == f"player {player!r}: {accepted}"
    with pytest.raises(ValueError, match="player") as error:
        parse_seat("HJ", 4)
    assert str(error.value) == (
        "player 'HJ': accepted are 0 or SB, 1 or BB, 2 or CO (acts first before the flop), 3 or BTN"
    )
    assert parse_seat("UTG+1", 9) == 3


@pytest.mark.parametrize("num_seats", [0, 1, 10])
def test_a_table_has_two_to_nine_seats(num_seats: int) -> None:
    with pytest.raises(ValueError, match=f"^{num_seats} seats; accepted: 2 to 9$"):
        seat_names(num_seats)
