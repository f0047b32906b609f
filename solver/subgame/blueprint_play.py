"""The blueprint in the tree of a subgame: its strategy as a table, and what hands win when both follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, disjoint_weight, live_combos
from solver.betting.lines import FLOP
from solver.betting.public_tree import PublicTree
from solver.betting.rules import Action, act
from solver.blueprint.board_play import add_expected
from solver.blueprint.boards import NUM_LIVE, board_hands
from solver.blueprint.continuation import BIASES
from solver.blueprint.plan import LanePlan
from solver.blueprint.rows import normalised
from solver.blueprint.strategy import Blueprint, BlueprintNode
from solver.blueprint.sweep_arrays import make_work
from solver.blueprint.tables import TableLayout
from solver.subgame.bucketed_lines import DTYPE, line_payoffs
from solver.subgame.leaf_boards import LeafBoard
from solver.subgame.run_outs import RememberedBuckets, RunOutDealer
from solver.subgame.subgame import Subgame
from solver.subgame.translation import Reading, TranslatedBlueprint, state_choice, tree_choices, tree_readings

Floats = NDArray[np.float64]
#: Run-outs over which values are estimated where there are cards to come: every next card this often.
ROUNDS = 2


class BlueprintTables:
    """The strategy of a blueprint, written into the tables of plans on another tree."""

    def __init__(
        self, translated: TranslatedBlueprint, tree: PublicTree, root: Sequence[Reading], texture: int
    ) -> None:
        self.translated, self.tree = translated, tree
        self.readings = tree_readings(translated, tree, root)
        self.slot = translated.blueprint.slot(texture)
        self._shares: dict[BlueprintNode, Floats] = {}

    def table(self, layout: TableLayout, *, bias: str = "blueprint", factor: float = 1.0) -> NDArray[Any]:
        """A plan's table, up to a factor per decision and bucket; actions of a kind may be favoured."""
        table = np.zeros(layout.size, dtype=DTYPE)
        for node in np.unique(self.tree.parent[layout.actions]).tolist():
            rows = self.shares(node)
            for child, row in zip(self.tree.children_of(node).tolist(), rows):
                favoured = Action(int(self.tree.action[child])) in BIASES[bias]
                table[layout.action_entries(child)] = row * (factor if favoured else 1.0)
        return table

    def shares(self, node: int) -> Floats:
        """Probabilities at a decision, ``[action, bucket]``: checks and calls where the blueprint is silent."""
        offered = tree_choices(self.tree, node)
        mixture = self.translated.mixture(self.readings[node], offered)
        if mixture:
            return sum(
                (weight * stands_for.T @ self._known(place) for place, weight, stands_for in mixture),
                start=np.zeros(1),
            )
        passive = [choice.action in (Action.CHECK, Action.CALL) for choice in offered]
        buckets = self.translated.blueprint.layout.num_buckets[int(self.tree.street[node]) - FLOP]
        return np.repeat(np.array(passive, dtype=np.float64)[:, None], buckets, axis=1)

    def _known(self, place: BlueprintNode) -> Floats:
        """The blueprint's probabilities at one of its own decisions, ``[action, bucket]``."""
        if place not in self._shares:
            blueprint = self.translated.blueprint
            tree = blueprint.game.tree
            children = tree.children_of(place.node).astype(np.int64)
            entries = [blueprint.layout.action_entries(int(child), self.slot) for child in children]
            sums = blueprint.table[np.stack(entries)].astype(np.float64)
            self._shares[place] = normalised(tree, children, sums)
        return self._shares[place]


def blueprint_values(
    blueprint: Blueprint,
    subgame: Subgame,
    player: int,
    *,
    node: int = 0,
    ranges: tuple[Floats, Floats] | None = None,
    forced: int | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Floats:
    """Net chips per deal of each combo of a player when both follow the blueprint from the root on, [1326].

    Exact on the river and the turn; over sampled run-outs of every turn card on the flop. Combos that meet nobody
    have 0.

    Parameters
    ----------
    node
        A decision of the subgame to start from instead.
    ranges
        Both ranges there; by default those at the root.
    forced
        Number of the action that is taken at `node` with every hand, instead of following the blueprint.
    rounds
        How often each next card is dealt on the flop.
    """
    translated = TranslatedBlueprint(blueprint)
    board = np.array(subgame.board, dtype=np.uint8)
    texture = blueprint.texture(board)
    root = translated.readings_at(subgame.rules, subgame.streets[:-1])
    tables = BlueprintTables(translated, subgame.tree, translated.deal(root), texture)
    plan = LanePlan.build(subgame.tree, [node])
    layout = TableLayout(plan, blueprint.layout.num_buckets)
    table, pays = tables.table(layout), line_payoffs(plan, player)
    if forced is not None:
        for number, child in enumerate(subgame.tree.children_of(node).tolist()):
            table[layout.action_entries(child)] = float(number == forced)
    opponent = (subgame.ranges if ranges is None else ranges)[1 - player]
    here = LeafBoard.of(subgame.cards, subgame.board, np.random.default_rng([seed, 2]))
    work = make_work(plan.programs, NUM_LIVE, DTYPE)
    bucketing = RememberedBuckets(blueprint.bucketing)
    values, met = np.zeros((1, NUM_COMBOS)), np.zeros(NUM_COMBOS)
    for full in run_outs_of(here.dealer, rounds):
        deal = board_hands(full, bucketing, texture)
        reach = opponent[None].astype(DTYPE)
        add_expected(layout, table, deal, deal.combos, player, reach, pays, 1.0, work, values)
        met[deal.combos] += disjoint_weight(opponent * live_combos(full))[deal.combos]
    values, met = here.evened(values[0]), here.evened(met)
    found = np.divide(values, met, out=np.zeros(NUM_COMBOS), where=met > 0.0)
    return np.where(met > 0.0, found + subgame.tree.dead / 2, 0.0)


def run_outs_of(dealer: RunOutDealer, rounds: int) -> NDArray[np.uint8]:
    """Full boards of a dealer's board: every next card `rounds` times, and all there are with one card to come."""
    missing = 5 - len(dealer.board)
    if missing == 0:
        return np.array([dealer.board], dtype=np.uint8)
    return dealer.draw(len(dealer.rest) * (rounds if missing > 1 else 1))


def gifts_along(blueprint: Blueprint, subgame: Subgame, player: int, *, seed: int = 0) -> Floats:
    """What each combo of a player gave away on the way to a subgame by the blueprint's estimate, [1326].

    At each of its decisions after the flop and before the subgame: what its best action is worth there, less what the
    one that it took is worth. What it may have given away before the flop is not counted.
    """
    gifts = np.zeros(NUM_COMBOS)
    for number in range(FLOP, len(subgame.streets) - 1):
        before = subgame.earlier(blueprint, number)
        translated = TranslatedBlueprint(blueprint)
        readings = translated.deal(translated.readings_at(subgame.rules, subgame.streets[:number]))
        board = np.array(before.board, dtype=np.uint8)
        state, node, ranges = subgame.streets[number].start, 0, before.ranges
        for action, to in subgame.streets[number].actions:
            children = before.tree.children_of(node).tolist()
            taken = [(before.tree.action[c], before.tree.amount[c]) for c in children].index((action, to))
            if state.actor == player:
                worth = [
                    blueprint_values(blueprint, before, player, node=node, ranges=ranges, forced=k, seed=seed)
                    for k in range(len(children))
                ]
                gifts += np.max(worth, axis=0) - worth[taken]
            choice = state_choice(subgame.rules, state, action, to)
            likelihood = translated.likelihood(readings, choice, board)
            first, second = (
                ranges[seat] * likelihood if seat == state.actor else ranges[seat] for seat in range(2)
            )
            ranges = first, second
            readings = translated.follow(readings, choice)
            node, state = int(children[taken]), act(subgame.rules, state, action, to)
    return np.where(live_combos(np.array(subgame.board, dtype=np.uint8)), gifts, 0.0)
