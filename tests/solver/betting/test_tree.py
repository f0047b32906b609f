"""The public tree: rules of no-limit betting for 2 to 9 seats, chips, lines and text."""

import dataclasses
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.betting.game import GameConfig, StreetSizes, street_sizes
from solver.betting.rules import start_street
from solver.betting.tree import Action, NodeKind, PublicTree, game_start, game_tree, spot_tree, subgame_tree
from solver.betting.tree_text import action_labels, format_counts, format_tree, preflop_key, tree_counts

R1_TREE = """\
: X B100 B200 A900
.X: X B100 B200 A900
.X.B100: F C R250 R340
.X.B100.R250: F C R625 A900
.X.B100.R250.R625: F C A900
.X.B100.R250.R625.A900: F C
.X.B100.R250.A900: F C
.X.B100.R340: F C A900
.X.B100.R340.A900: F C
.X.B200: F C R560 A900
.X.B200.R560: F C A900
.X.B200.R560.A900: F C
.X.B200.A900: F C
.X.A900: F C
.B100: F C R250 R340
.B100.R250: F C R625 A900
.B100.R250.R625: F C A900
.B100.R250.R625.A900: F C
.B100.R250.A900: F C
.B100.R340: F C A900
.B100.R340.A900: F C
.B200: F C R560 A900
.B200.R560: F C A900
.B200.R560.A900: F C
.B200.A900: F C
.A900: F C"""
R1_SIZES = {"river": {"bet": "50%,100%,a", "raise": "60%,2.5x"}}


def tokens(tree: PublicTree, line: str) -> list[str]:
    return [tree.token(int(child)) for child in tree.children_of(tree.node_at(line))]


def payoffs(tree: PublicTree, line: str, *strengths: float) -> list[float]:
    return tree.payoffs(tree.node_at(line), strengths or None).tolist()


# ---- spots ---------------------------------------------------------------------------------------


def test_the_reference_river_tree_is_reproduced() -> None:
    tree = spot_tree(3, 200, 900, R1_SIZES)
    assert format_tree(tree) == R1_TREE
    assert tree_counts(tree)["total"] == {
        "nodes": 75,
        "decision": 26,
        "chance": 0,
        "fold": 24,
        "showdown": 25,
        "actions": 74,
    }


def test_spot_payoffs_share_the_pot() -> None:
    tree = spot_tree(3, 200, 900, R1_SIZES)
    assert payoffs(tree, "xx", 2, 1) == [200, 0]
    assert payoffs(tree, "b100f") == [200, 0]
    assert payoffs(tree, "b100c", 1, 1) == [100, 100]
    assert payoffs(tree, "xb100f") == [0, 200]
    assert payoffs(tree, "xb100r340Af") == [-340, 200 + 340]
    assert payoffs(tree, "Ac", 1, 2) == [-900, 1100]


def test_streets_are_joined_by_a_chance_node_and_all_in_ends_the_betting() -> None:
    tree = spot_tree(1, 200, 900, {"flop": {"bet": "50%", "raise": "2.5x"}})
    chance = tree.node_at("xx")
    assert tree.kind[chance] == NodeKind.CHANCE
    assert tree.num_children[chance] == 1
    assert tree.street[tree.node_at("xx/")] == 2
    assert tree.line(tree.node_at("xx/b100c/xb200")) == "xx/b100c/xb200"
    all_in = [i for i in range(len(tree)) if (tree.committed[i] == 900).all()]
    assert all_in
    assert all(tree.kind[i] == NodeKind.SHOWDOWN for i in all_in)
    assert {int(tree.street[i]) for i in all_in} == {1, 2, 3}


def test_a_street_left_out_takes_the_previous_sizes_and_seats_may_differ() -> None:
    sizes = {"flop": {"oop": {"bet": "33%"}, "ip": {"bet": "75%", "raise": "3x"}}, "river": {"bet": "100%"}}
    tree = spot_tree(1, 300, 100_000, sizes)
    assert tokens(tree, "") == ["x", "b99"]
    assert tokens(tree, "x") == ["x", "b225"]
    assert tokens(tree, "b99") == ["f", "c", "r297"]
    assert tokens(tree, "xb225") == ["f", "c"]
    assert tokens(tree, "xx/") == ["x", "b99"]
    assert tokens(tree, "xx/xx/") == ["x", "b300"]


def test_donk_sizes_apply_only_into_the_previous_aggressor() -> None:
    sizes = {"flop": {"bet": "50%", "raise": "3x"}}
    tree = spot_tree(2, 200, 100_000, sizes, {"river": "25%"})
    assert tokens(tree, "xb100c/") == ["x", "b100"]  # 25 % of 400
    assert tokens(tree, "b100r300c/") == ["x", "b200"]  # 25 % of 800
    assert tokens(tree, "b100c/") == ["x", "b200"]  # own initiative: 50 % of 400
    assert tokens(tree, "xx/") == ["x", "b100"]  # nobody's: 50 % of 200
    assert tokens(tree, "xb100c/x") == ["x", "b200"]  # the aggressor itself
    assert tokens(tree, "b100c/x") == ["x", "b200"]  # the aggressor has already checked
    silent = spot_tree(2, 200, 100_000, sizes, {"river": "none"})
    assert tokens(silent, "xb100c/") == ["x"]


def test_rake_is_capped_and_taken_on_folds_too() -> None:
    tree = spot_tree(3, 200, 900, R1_SIZES, rake=0.05, rake_cap=12)
    assert payoffs(tree, "xx", 1, 0) == [190, 0]
    assert payoffs(tree, "b100f") == [190, 0]
    assert payoffs(tree, "b100c", 1, 0) == [300 - 12, -100]
    assert payoffs(tree, "b100c", 1, 1) == [94, 94]


# ---- games ---------------------------------------------------------------------------------------


def test_heads_up_the_small_blind_acts_first_before_the_flop_and_last_after_it() -> None:
    tree = game_tree(GameConfig())
    assert tree.player[tree.node_at("")] == 0
    assert tree.player[tree.node_at("c")] == 1
    assert tree.player[tree.node_at("cx/")] == 1
    assert tree.player[tree.node_at("cx/x")] == 0
    assert tree.player[tree.node_at("b250c/")] == 1


def test_preflop_lines_keys_and_labels() -> None:
    tree = game_tree(GameConfig(raise_sizes=("2.5,4,a", "3x,a")), last_street=0)
    assert action_labels(tree, 0) == ["fold", "call", "open_250", "open_400", "all_in"]
    node = tree.node_at("||p|b250r750")
    assert preflop_key(tree, node) == "||p|b250r750"
    assert action_labels(tree, node) == ["fold", "call", "raise_2250", "all_in"]
    assert action_labels(tree, tree.node_at("c")) == ["check", "open_250", "open_400", "all_in"]
    assert action_labels(game_tree(GameConfig()), game_tree(GameConfig()).node_at("cx/"))[1] == "bet_100"


def test_the_first_raise_over_a_limp_has_its_own_menu() -> None:
    tree = game_tree(GameConfig(raise_sizes=("2", "3x"), over_limp_sizes="3.5,a"), last_street=0)
    assert action_labels(tree, 0) == ["fold", "call", "open_200"]
    assert action_labels(tree, tree.node_at("c")) == ["check", "open_350", "all_in"]
    assert action_labels(tree, tree.node_at("cb350")) == ["fold", "call", "raise_1050"]
    assert action_labels(tree, tree.node_at("b200")) == ["fold", "call", "raise_600"]
    game = GameConfig(stacks=(1000,) * 3, raise_sizes=("2",), over_limp_sizes="3", raise_cap=1)
    three = game_tree(game, last_street=0)
    assert action_labels(three, three.node_at("f")) == ["fold", "call", "open_200"]
    for limped in ("c", "fc", "cc"):
        assert "open_300" in action_labels(three, three.node_at(limped))
        assert "open_200" not in action_labels(three, three.node_at(limped))


def test_the_small_blind_has_a_menu_of_its_own_where_everybody_before_it_folded() -> None:
    game = GameConfig(
        stacks=(10_000,) * 3, raise_sizes=("2.5", "3x"), small_blind_sizes="3.5", over_limp_sizes="5"
    )
    tree = game_tree(game, last_street=0)
    assert action_labels(tree, tree.node_at("f")) == ["fold", "call", "open_350"]
    assert action_labels(tree, 0) == ["fold", "call", "open_250"]
    assert action_labels(tree, tree.node_at("c")) == ["fold", "call", "open_500"]
    assert action_labels(tree, tree.node_at("fc")) == ["check", "open_500"]
    assert action_labels(tree, tree.node_at("b250")) == ["fold", "call", "raise_750"]
    assert action_labels(tree, tree.node_at("fb350")) == ["fold", "call", "raise_1050"]


def test_a_preflop_tree_stops_where_the_flop_would_come() -> None:
    tree = game_tree(GameConfig(), last_street=0)
    assert set(np.flatnonzero(tree.num_children == 0)) == set(np.flatnonzero(tree.kind != NodeKind.DECISION))
    assert tree.kind[tree.node_at("cx")] == NodeKind.CHANCE
    assert tree.kind[tree.node_at("b250r750r1875Ac")] == NodeKind.SHOWDOWN


def test_the_blinds_change_hands_on_a_fold() -> None:
    tree = game_tree(GameConfig(), last_street=0)
    assert payoffs(tree, "f") == [-50, 50]
    assert payoffs(tree, "b250f") == [100, -100]
    assert payoffs(tree, "b250r750f") == [-250, 250]


def test_unequal_stacks_play_for_the_shorter_one() -> None:
    tree = game_tree(GameConfig(stacks=(3000, 1000), raise_sizes=("a",)), last_street=0)
    assert tree.amount[tree.node_at("A")] == 1000
    assert payoffs(tree, "Ac", 1, 0) == [1000, -1000]


def test_a_big_blind_shorter_than_the_small_blind_leaves_no_decision() -> None:
    with pytest.raises(ValueError, match="nobody has a decision"):
        game_tree(GameConfig(stacks=(1000, 40)))
    tree = game_tree(GameConfig(stacks=(1000, 60)))
    assert tree.lines == ["", "f", "c"]
    assert payoffs(tree, "c", 0, 1) == [-60, 60]
    assert payoffs(tree, "c", 1, 0) == [60, -60]


def test_antes_are_dead_money_for_whoever_wins() -> None:
    each = game_tree(GameConfig(antes=(10, 10), limp=False, raise_sizes=("a",)), last_street=0)
    assert payoffs(each, "f") == [-60, 60]
    assert payoffs(each, "Af") == [110, -110]
    assert payoffs(each, "Ac", 1, 1) == [0, 0]
    blind_ante = game_tree(GameConfig(antes=(0, 100), limp=False, raise_sizes=("a",)), last_street=0)
    assert blind_ante.pot[0] == 250
    assert payoffs(blind_ante, "f") == [-50, 50]
    assert payoffs(blind_ante, "Ac", 1, 0) == [10_000, -10_000]


def test_a_straddle_moves_the_last_word() -> None:
    heads_up = game_tree(GameConfig(straddle=200), last_street=0)
    assert heads_up.player[0] == 1
    assert tokens(heads_up, "") == ["f", "c", "b500"]
    assert tokens(heads_up, "c") == ["x", "b500"]
    four = game_tree(GameConfig(stacks=(10_000,) * 4, straddle=200), last_street=0)
    assert [int(four.player[four.node_at(line)]) for line in ("", "f", "ff", "ffc", "ffcb500")] == [
        3,
        0,
        1,
        2,
        1,
    ]
    assert payoffs(four, "fff") == [-50, -100, 150, 0]


def test_without_limping_the_first_voluntary_chip_is_a_raise() -> None:
    tree = game_tree(GameConfig(stacks=(10_000,) * 3, limp=False), last_street=0)
    assert tokens(tree, "") == ["f", "b250"]
    assert tokens(tree, "f") == ["f", "b250"]
    assert tokens(tree, "b250") == ["f", "c", "r750"]


def test_the_raise_cap_leaves_fold_and_call() -> None:
    tree = game_tree(GameConfig(raise_sizes=("3", "3x"), raise_cap=2))
    assert tokens(tree, "b300r900") == ["f", "c"]
    assert tokens(tree, "b300c/b300") == ["f", "c", "r750"]
    assert tokens(tree, "b300c/b300r750") == ["f", "c"]


def test_a_raise_adds_at_least_the_last_full_raise() -> None:
    tree = game_tree(GameConfig(raise_sizes=("3", "1.1x"), raise_cap=0), last_street=0)
    assert tokens(tree, "b300") == ["f", "c", "r500"]
    assert tokens(tree, "b300r500") == ["f", "c", "r700"]
    sizes = {"flop": {"bet": "50%", "raise": "10%"}}
    assert tokens(spot_tree(3, 200, 10_000, sizes), "b100") == ["f", "c", "r200"]


@pytest.mark.parametrize("seats", range(2, 10))
def test_push_or_fold_has_two_to_the_n_minus_one_endings(seats: int) -> None:
    config = GameConfig(stacks=(1000,) * seats, limp=False, raise_sizes=("a",), raise_cap=1)
    tree = game_tree(config, last_street=0)
    assert int((tree.num_children == 0).sum()) == 2**seats - 1


def test_a_short_all_in_does_not_reopen_the_betting() -> None:
    # Seat 2 opens to 300, seat 0 moves in for 400 (a raise of 100, less than the 200 before it).
    config = GameConfig(stacks=(400, 10_000, 10_000), raise_sizes=("3,a", "3x,a"), raise_cap=0)
    tree = game_tree(config, last_street=0)
    assert tokens(tree, "b300A") == ["f", "c", "r1200", "A"]  # seat 1 has not acted: it may raise
    assert tokens(tree, "b300Ac") == ["f", "c"]  # seat 2 has, and faces less than a full raise
    assert tokens(tree, "b300Ar1200") == ["f", "c", "r3600", "A"]


def test_short_all_ins_that_add_up_to_a_full_raise_do_reopen_it() -> None:
    config = GameConfig(stacks=(400, 500, 10_000, 10_000), raise_sizes=("3,a", "3x,a"), raise_cap=0)
    tree = game_tree(config, last_street=0)
    assert tokens(tree, "b300cAA") == ["f", "c", "r1500", "A"]
    assert tokens(tree, "b300cAc") == ["f", "c"]


def test_side_pots_go_to_the_best_hand_that_paid_for_them() -> None:
    config = GameConfig(stacks=(500, 2000, 5000), limp=False, raise_sizes=("a",))
    tree = game_tree(config, last_street=0)
    line = "Acc"
    assert tree.committed[tree.node_at(line)].tolist() == [500, 2000, 2000]
    assert payoffs(tree, line, 3, 2, 1) == [1000, 1000, -2000]
    assert payoffs(tree, line, 1, 2, 2) == [-500, 250, 250]
    assert payoffs(tree, line, 3, 1, 2) == [1000, -2000, 1000]


# ---- properties ----------------------------------------------------------------------------------

MENUS = ("2.5", "2,4", "3x", "100%", "50%,a", "a", "2.2x,3x", "150c", "1.1x", "5%")


@st.composite
def games(draw: st.DrawFn) -> GameConfig:
    seats = draw(st.sampled_from((2, 2, 3, 3, 4, 5, 6, 7, 8, 9)))
    few = seats > 4
    post = st.sampled_from(("none", "50%", "100%", "a", "75c")) if seats < 4 else st.just("none")
    menu = StreetSizes(draw(post), draw(st.sampled_from(("none", "2.5x"))), draw(post), "none", draw(post))
    return GameConfig(
        stacks=tuple(draw(st.integers(11, 700 if few else 2500)) for _ in range(seats)),
        antes=tuple(draw(st.sampled_from((0, 0, 10))) for _ in range(seats)),
        straddle=draw(st.sampled_from((0, 0, 200))),
        limp=draw(st.booleans()),
        raise_sizes=tuple(
            draw(st.lists(st.sampled_from(MENUS[:1] if few else MENUS), min_size=1, max_size=2))
        ),
        raise_cap=1 if few else draw(st.sampled_from((2, 3))),
        postflop=(menu,) * 3,
        postflop_raise_cap=draw(st.sampled_from((0, 1))),
        add_allin_threshold=0.0 if few else draw(st.sampled_from((0.0, 0.8))),
        force_allin_threshold=draw(st.sampled_from((0.0, 0.15))),
        merging_threshold=draw(st.sampled_from((0.0, 0.2))),
        rake=draw(st.sampled_from((0.0, 0.05))),
        rake_cap=draw(st.sampled_from((0.0, 30.0))),
        node_limit=20_000,
    )


def build(config: GameConfig, last_street: int = 3) -> PublicTree | None:
    """The tree, or nothing when the drawn game is too large or has no decision."""
    try:
        return game_tree(config, last_street=last_street)
    except ValueError as error:
        if re.match(r"node_limit|stacks: nobody has a decision", str(error)):
            return None
        raise


@given(games(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_chips_are_conserved_at_every_node(config: GameConfig, random) -> None:
    tree = build(config)
    if tree is None:
        return
    assert (tree.committed <= np.array(config.stacks)).all()
    assert (tree.committed >= 0).all()
    assert (tree.pot == tree.committed.sum(axis=1)).all()
    grows = tree.committed[1:] >= tree.committed[tree.parent[1:]]
    terminal = (tree.kind == NodeKind.FOLD) | (tree.kind == NodeKind.SHOWDOWN)
    assert grows[~terminal[1:]].all()
    ends = np.flatnonzero(terminal)
    for node in random.sample(ends.tolist(), min(len(ends), 200)):
        strengths = [random.randint(0, 3) for _ in range(tree.num_seats)]
        net = tree.payoffs(node, strengths)
        assert net.sum() == pytest.approx(-tree.rake_of(node), abs=1e-9)
        assert (net >= -tree.committed[node] - 1e-9).all()
        assert net[tree.folded[node] != 0] == pytest.approx(-tree.committed[node][tree.folded[node] != 0])


@given(games())
@settings(max_examples=30, deadline=None)
def test_every_line_ends_and_the_arrays_are_one_depth_first_tree(config: GameConfig) -> None:
    tree = build(config)
    if tree is None:
        return
    nodes = np.arange(len(tree))
    assert (tree.parent[1:] < nodes[1:]).all()
    decisions, chances = tree.kind == NodeKind.DECISION, tree.kind == NodeKind.CHANCE
    assert ((tree.num_children > 0) == (decisions | chances)).all()
    assert (tree.num_children[chances] == 1).all()
    assert ((tree.player >= 0) == decisions).all()
    assert (tree.parent[tree.children] == np.repeat(nodes, tree.num_children)).all()
    assert sorted(tree.children.tolist()) == nodes[1:].tolist()
    assert (tree.subtree_end[tree.parent[1:]] >= tree.subtree_end[1:]).all()
    assert len(set(tree.lines)) == len(tree)
    for node in range(0, len(tree), max(1, len(tree) // 50)):
        assert tree.node_at(tree.lines[node]) == node
        assert tree.line(node) == tree.lines[node]
        inside = [i for i in range(len(tree)) if tree.lines[i].startswith(tree.lines[node])]
        assert set(range(node, tree.subtree_end[node])) <= set(inside)


def replay(config: GameConfig, line: str) -> None:
    """Play a line by the rule book, without any code of the tree, and refuse what is not allowed."""
    seats = len(config.stacks)
    behind = [stack - ante for stack, ante in zip(config.stacks, config.antes)]
    first = [*range(2, seats), 0, 1] if seats > 2 else [0, 1]
    street_in = [0] * seats
    for seat, blind in ((0, config.small_blind), (1, config.big_blind)):
        street_in[seat] = min(blind, behind[seat])
    if config.straddle:
        street_in[first[0]] = min(config.straddle, behind[first[0]])
        first = first[1:] + first[:1]
    behind = [chips - paid for chips, paid in zip(behind, street_in)]
    level = increment = max(config.big_blind, config.straddle)
    folded: set[int] = set()
    acted: set[int] = set()
    raises, order, turn = 0, first, 0
    for token in re.findall(r"[fxcA/]|[br]\d+", line):
        if token == "/":
            live = [s for s in range(seats) if s not in folded]
            assert all(street_in[s] == level or behind[s] == 0 for s in live), "street closed too early"
            assert sum(behind[s] > 0 for s in live) > 1, "a card was dealt with nobody left to bet"
            street_in, level, increment, raises = [0] * seats, 0, config.big_blind, 0
            acted = set()
            order, turn = ([1, 0] if seats == 2 else list(range(seats))), 0
            continue
        while True:
            seat = order[turn % seats]
            turn += 1
            owes = street_in[seat] < level
            if seat not in folded and behind[seat] > 0 and (seat not in acted or owes):
                break
            assert turn < 100, "nobody can act"
        others = [s for s in range(seats) if s != seat and s not in folded]
        may_raise = seat not in acted or level - street_in[seat] >= increment
        if token == "f":
            assert owes, "folded for free"
            folded.add(seat)
            continue
        if token == "x":
            assert not owes, "checked a bet"
        elif token == "c":
            pay = min(level - street_in[seat], behind[seat])
            assert pay > 0
            street_in[seat] += pay
            behind[seat] -= pay
        else:
            assert may_raise, "raised without the betting being open"
            coverage = max(street_in[s] + behind[s] for s in others if behind[s] > 0)
            all_in = min(street_in[seat] + behind[seat], coverage)
            to = all_in if token == "A" else int(token[1:])
            assert level < to <= all_in
            assert to - level >= increment or token == "A", "raise below the minimum"
            if token != "A":
                assert to < all_in, "an all-in that is not called so"
                assert (token[0] == "b") == (raises == 0)
            behind[seat] -= to - street_in[seat]
            street_in[seat] = to
            if to - level >= increment:
                increment, acted = to - level, set()
            level, raises = to, raises + 1
            cap = config.raise_cap if order is first else 1 + config.postflop_raise_cap
            assert raises <= cap
        acted.add(seat)


@given(games(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_every_line_is_legal_by_the_rule_book(config: GameConfig, random) -> None:
    tree = build(config)
    if tree is None:
        return
    # Where a blind exceeds a stack, a caller may owe less than the blind: the rule book above
    # does not know that, so only full blinds are replayed.
    straddled = 0 if len(config.stacks) == 2 else 2
    posts = {0: config.small_blind, 1: config.big_blind} | (
        {straddled: config.straddle} if config.straddle else {}
    )
    if any(config.stacks[seat] - config.antes[seat] < max(posts.values()) for seat in range(tree.num_seats)):
        return
    ends = np.flatnonzero(tree.num_children == 0).tolist()
    for node in random.sample(ends, min(len(ends), 100)):
        replay(config, tree.lines[node])


@given(games())
@settings(max_examples=30, deadline=None)
def test_amounts_come_from_the_menu_the_minimum_raise_or_the_stack(config: GameConfig) -> None:
    tree = build(config, last_street=0)
    if tree is None:
        return
    unit = max(config.big_blind, config.straddle)
    for node in np.flatnonzero((tree.action == Action.BET) | (tree.action == Action.RAISE)):
        parent = int(tree.parent[node])
        line = tree.lines[parent]
        depth = len(re.findall(r"[brA]", line))
        menu = config.raise_sizes[min(depth, len(config.raise_sizes) - 1)]
        stake = tree.committed[parent] - np.array(config.antes)
        levels = [unit] + [int(tree.amount[i]) for i in path(tree, parent) if tree.action[i] in (3, 4, 5)]
        level = max(levels)
        seat = int(tree.player[parent])
        call = min(level, config.stacks[seat] - config.antes[seat]) - int(stake[seat])
        pot = int(tree.pot[parent]) + call
        allowed = set()
        for size in menu.split(","):
            if size == "a":
                continue
            if size.endswith("%"):
                allowed.add(level + int(pot * float(size[:-1]) / 100 + 0.5))
            elif size.endswith("x") or (size[-1].isdigit() and depth > 0):
                allowed.add(int(level * float(size.rstrip("x")) + 0.5))
            elif size.endswith("c"):
                allowed.add(level + int(size[:-1]))
            else:
                allowed.add(int(unit * float(size) + 0.5))
        to = int(tree.amount[node])
        rises = np.diff(levels)
        minimum = level + max([unit, *[int(rise) for rise in rises if rise >= unit]])
        assert to in allowed or to <= minimum


def path(tree: PublicTree, node: int) -> list[int]:
    nodes = []
    while node > 0:
        nodes.append(node)
        node = int(tree.parent[node])
    return nodes[::-1]


@given(
    st.lists(st.integers(1, 12), min_size=2, max_size=6).flatmap(
        lambda stacks: st.tuples(
            st.just(stacks), st.lists(st.integers(0, 3), min_size=len(stacks), max_size=len(stacks))
        )
    )
)
def test_side_pots_agree_with_settling_one_chip_level_at_a_time(case: tuple[list[int], list[int]]) -> None:
    stacks, strengths = case
    chips = [1000 * stack for stack in stacks]
    config = GameConfig(stacks=tuple(chips), limp=False, raise_sizes=("a",), raise_cap=0)
    tree = game_tree(config, last_street=0)
    ends = np.flatnonzero(tree.kind == NodeKind.SHOWDOWN)
    for node in ends[:: max(1, len(ends) // 20)]:
        stake = tree.committed[node]
        won = np.zeros(len(stacks))
        levels = np.unique(np.concatenate([[0], stake]))
        for low, high in pairwise(levels):
            paid = [seat for seat in range(len(stacks)) if stake[seat] >= high]
            contest = [seat for seat in paid if not tree.folded[node, seat]] or paid
            best = max(strengths[seat] for seat in contest)
            winners = [seat for seat in contest if strengths[seat] == best]
            won[winners] += (high - low) * len(paid) / len(winners)
        assert tree.payoffs(int(node), strengths) == pytest.approx(won - stake)


def test_vectorised_heads_up_payoffs_agree_with_the_general_ones() -> None:
    config = GameConfig(stacks=(3000, 2000), antes=(10, 20), rake=0.05, rake_cap=40, no_flop_no_drop=True)
    tree = game_tree(config)
    table = tree.heads_up_payoffs
    for node in range(0, len(tree), 7):
        if tree.num_children[node]:
            assert not table[node].any()
            continue
        for outcome, strengths in enumerate(((1, 0), (0, 1), (0, 0))):
            assert table[node, outcome] == pytest.approx(tree.payoffs(node, strengths))


# ---- limits, text and errors ---------------------------------------------------------------------


def test_a_tree_above_the_limit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"node_limit: the tree has more than 1,000 nodes"):
        game_tree(GameConfig(node_limit=1000))
    with pytest.raises(ValueError, match="node_limit"):
        spot_tree(1, 10, 10**8, {"flop": {"bet": "1c", "raise": "1c"}}, node_limit=50_000)


def test_counts_by_street_add_up() -> None:
    tree = game_tree(GameConfig())
    counts = tree_counts(tree)
    total = counts.pop("total")
    assert total["nodes"] == len(tree)
    for key in total:
        assert sum(row[key] for row in counts.values()) == total[key]
    assert f"{len(tree):,}" in format_counts(tree)


@pytest.mark.parametrize(
    ("line", "message"),
    [("b251", "'b251' is not possible after the start; accepted: f c b250"), ("z", "no token at 'z'")],
)
def test_a_line_that_is_not_in_the_tree_is_named(line: str, message: str) -> None:
    with pytest.raises(ValueError, match="line") as error:
        game_tree(GameConfig(), last_street=0).node_at(line)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"stacks": [1000]}, "stacks: 1 seats"),
        ({"stacks": [1000] * 10}, "stacks: 10 seats"),
        ({"stacks": [1000, -5]}, r"stacks\[1\]: -5"),
        ({"stack": 1000}, "stack: unknown key"),
        ({"small_blind": 200}, "big_blind: 100"),
        ({"straddle": 150}, "straddle: 150 is below"),
        ({"antes": [1, 2, 3]}, "antes: 3 values for 2 seats"),
        ({"stacks": [50, 1000], "antes": 50}, r"stacks\[0\]: 50 does not exceed the ante"),
        ({"raise_sizes": ["2.5", "big"]}, r"raise_sizes\[1\]: size 'big'"),
        ({"raise_sizes": []}, "raise_sizes: no menu"),
        ({"raise_sizes": "2.5"}, "raise_sizes: '2.5' is not a list"),
        ({"rake": 1.5}, "rake: 1.5"),
        ({"rake_cap": -1}, "rake_cap: -1"),
        ({"merging_threshold": -1}, "merging_threshold: -1"),
        ({"bet_sizes": {"turn": {"bet": "50%"}}}, "bet_sizes.flop: no sizes"),
        ({"bet_sizes": {"flop": {"bet": "x"}}}, "bet_sizes.flop.oop.bet: size 'x'"),
        ({"bet_sizes": {"flop": {"bets": "50%"}}}, "bet_sizes.flop.oop.bets: unknown key"),
        ({"bet_sizes": {"river": {}, "preflop": {}}}, "bet_sizes.preflop: unknown street"),
        ({"bet_sizes": {"flop": {"bet": "50%"}}, "donk_sizes": {"flop": "2x"}}, "donk_sizes.flop: size '2x'"),
    ],
)
def test_bad_game_settings_are_named(table: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameConfig.from_mapping(table)


def test_a_config_table_reads_like_the_dataclass() -> None:
    table = {
        "stacks": 2500,
        "antes": 10,
        "raise_sizes": [2, ["3x", "a"]],
        "bet_sizes": {"flop": {"bet": "50%,100%", "raise": "2.5x"}},
        "donk_sizes": {"turn": "25%"},
    }
    sizes = street_sizes(table["bet_sizes"], table["donk_sizes"])
    assert GameConfig.from_mapping(table) == GameConfig(
        stacks=(2500, 2500), antes=(10, 10), raise_sizes=("2", "3x,a"), postflop=sizes
    )
    assert sizes[1].donk == "25%"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pot": 0}, "pot: 0"),
        ({"stack": 0}, "stack: 0"),
        ({"street": 0}, "street: 0"),
        ({"pot": 1.5}, "pot: 1.5"),
    ],
)
def test_bad_spots_are_named(change: dict, message: str) -> None:
    spot = {"street": 3, "pot": 200, "stack": 900, "bet_sizes": R1_SIZES} | change
    with pytest.raises(ValueError, match=message):
        spot_tree(**spot)


def test_a_raise_of_a_raise_may_have_a_menu_of_its_own() -> None:
    rules, _ = game_start(GameConfig(stacks=(4000, 4000)))
    root = start_street(rules, 2, (250, 250), 0, 0)
    sizes = StreetSizes("50%", "2.5x,a", "50%", "2.5x,a", reraise="a")
    tree = subgame_tree(rules, root, {2: sizes}, last_street=2, raise_cap=2)
    assert action_labels(tree, tree.node_at("b250")) == ["fold", "call", "raise_625", "all_in"]
    assert action_labels(tree, tree.node_at("b250r625")) == ["fold", "call", "all_in"]
    alike = dataclasses.replace(sizes, reraise=None)
    tree = subgame_tree(rules, root, {2: alike}, last_street=2, raise_cap=2)
    assert action_labels(tree, tree.node_at("b250r625")) == ["fold", "call", "raise_1563", "all_in"]
