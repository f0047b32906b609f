"""A blueprint: the strategy of a whole game, before the flop by class and after it by bucket.

One type for what the trainer makes, stages pass on, bundles hold and evaluations judge. It answers the questions of
`solver.strategy` for any line and board.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_COMBOS, check_board, format_cards, live_combos
from abstractions.isomorphism import board_index
from solver.betting.lines import PREFLOP, PUBLIC_CARDS, without_prefix
from solver.betting.public_tree import NodeKind
from solver.blueprint.boards import Bucketing
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.rows import ALL_TEXTURES, RowKey, Rows, StreetRows, normalised
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import Floats, TrunkGame
from solver.cfr.exploitability import Exploitability
from solver.strategy import reach

if TYPE_CHECKING:
    from solver.blueprint.flop_values import FlopBoards


@dataclass(frozen=True)
class BlueprintNode:
    """Where a line ends: a node of the tree, after the flop in the template of its flop line's pot type.

    Attributes
    ----------
    node
        Node of the game's tree.
    player, street
        Who acts there (-1: nobody), and when.
    line
        Number of the flop line, -1 before the flop.
    """

    node: int
    player: int
    street: int
    line: int = -1


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A strategy for the whole game.

    Attributes
    ----------
    game
        The game, its trunk and its flop lines.
    preflop
        ``[preflop node, class]``: probability of the action that leads to the node.
    layout, table
        Postflop strategy of all lines: probabilities or their numerators (regret matching normalises them).
    bucketing
        Buckets that the table is read by.
    pots
        Which flop lines play which line of the plan.
    textures
        Texture of each canonical flop; needed by questions about boards where buckets belong to textures.
    """

    game: TrunkGame
    preflop: Floats
    layout: TableLayout
    table: NDArray[Any]
    bucketing: Bucketing
    pots: PotTypes
    textures: NDArray[np.integer] | None = None

    @classmethod
    def from_rows(
        cls,
        game: TrunkGame,
        pots: PotTypes,
        bucketing: Bucketing,
        preflop: Floats,
        rows: Iterable[tuple[RowKey, NDArray[Any]]],
        *,
        num_textures: int = 1,
        textures: NDArray[np.integer] | None = None,
        dtype: Any = np.float32,
    ) -> Blueprint:
        """Put a blueprint together from the rows of all pot types, textures and streets.

        Parameters
        ----------
        num_textures
            Sets of rows; 1 when all textures share theirs.
        dtype
            Element type of the table.
        """
        layout = TableLayout(LanePlan.build(game.tree, pots.templates), bucketing.num_buckets, num_textures)
        table = np.zeros(layout.size, dtype=dtype)
        for key, array in rows:
            layout.fill(table, key.pot_type, key.street, array, max(key.texture, 0))
        return cls(game, preflop, layout, table, bucketing, pots, textures)

    def street_rows(self, street: int) -> StreetRows:
        """Order of the rows of a street (0 flop .. 2 river) when it is exported."""
        return StreetRows(self.game.tree, self.pots.templates, self.layout.num_textures, street)

    def exported_street(self, street: int) -> NDArray[np.float32]:
        """Probabilities of a street, ``[row, bucket]``, in the order of `street_rows`.

        Where no bucket was ever visited the strategy is uniform, as the solver reads it.
        """
        return self.street_rows(street).encode(
            lambda texture, pot_type: self.layout.rows(self.table, pot_type, street, texture)
        )

    def place(self, line: str, board: NDArray[np.uint8]) -> BlueprintNode:
        """Where a line ends, whose last street must be the board's."""
        tree, place = self.game.tree, self.walk(line)
        public = PUBLIC_CARDS[place.street]
        # The betting of a street may be over and the next card not yet named in the line.
        over = tree.kind[place.node] == NodeKind.CHANCE
        if len(board) != public and not (over and len(board) == PUBLIC_CARDS[place.street + 1]):
            raise ValueError(f"board {format_cards(board)!r}: {len(board)} cards; line {line!r} has {public}")
        return place

    def walk(self, line: str) -> BlueprintNode:
        """Where a line ends. Where flop lines share a subtree, sizes in a line are the line's own chips."""
        game = self.game
        preflop, slash, _ = without_prefix(line).partition("/")
        first = game.tree.node_at(preflop + slash)
        if not slash:
            return self._at(first)
        number = game.lines.index(first)
        template, share = self.pots.of_line(number)
        node = game.tree.node_at(line, root=template, start=preflop + slash, scale=share.scale)
        return self._at(node, number)

    def steps(self, line: str) -> list[tuple[BlueprintNode, int]]:
        """See `solver.strategy.Strategy.steps`."""
        tree, place = self.game.tree, self.walk(line)
        steps = []
        for child in self._path(place):
            parent = int(tree.parent[child])
            if tree.kind[parent] == NodeKind.DECISION:
                taken = tree.children_of(parent).tolist().index(child)
                steps.append((self._at(parent, place.line), taken))
        return steps

    def _at(self, node: int, line: int = -1) -> BlueprintNode:
        tree = self.game.tree
        player = int(tree.player[node]) if tree.kind[node] == NodeKind.DECISION else -1
        return BlueprintNode(node, player, int(tree.street[node]), line)

    def _path(self, place: BlueprintNode) -> list[int]:
        """Nodes on the way to a place, first to last."""
        game, node = self.game, place.node
        parent = game.tree.parent
        path: list[int] = []
        if place.line >= 0:
            template, _ = self.pots.of_line(place.line)
            while node != template:
                path.append(node)
                node = int(parent[node])
            node = game.lines[place.line]
        while node > 0:
            path.append(node)
            node = int(parent[node])
        return path[::-1]

    def probabilities(self, decision: BlueprintNode, board: NDArray[np.uint8]) -> Floats:
        """See `solver.strategy.Strategy.probabilities`; 0 for combos that the board blocks."""
        tree = self.game.tree
        children = tree.children_of(decision.node)
        if decision.street == PREFLOP:
            preflop = self.game.preflop.tree
            rows = [preflop.node_at(tree.line(int(child))) for child in children]
            return self.preflop[rows][:, CLASS_OF_COMBO]
        texture = self.texture(board)
        slot = self.slot(texture)
        sums = np.stack([self.table[self.layout.action_entries(int(child), slot)] for child in children])
        shares = normalised(tree, children.astype(np.int64), sums.astype(np.float64))
        public = board[: PUBLIC_CARDS[decision.street]]
        live = np.flatnonzero(live_combos(public))
        result = np.zeros((len(children), NUM_COMBOS))
        result[:, live] = shares[:, self.bucketing.buckets(public, texture)[live]]
        return result

    def texture(self, board: NDArray[np.uint8]) -> int:
        """Texture of a board's flop, 0 where the blueprint does not know textures."""
        if self.textures is None:
            if self.layout.num_textures > 1:
                raise ValueError(
                    "textures: a blueprint with buckets by texture needs the texture of each flop"
                )
            return 0
        return int(self.textures[board_index(board[None, :3])[0][0]])

    def slot(self, texture: int) -> int:
        """Which set of rows a texture has."""
        return texture if self.layout.num_textures > 1 else 0

    def reach(self, line: str, board: NDArray[np.uint8], player: int) -> Floats:
        """Probability by combo that a player holding it plays its part of a line on a board, [1326].

        Zero for combos that the board blocks. The board has the cards of the line's last street.
        """
        cards = check_board(board)
        self.place(line, cards)
        return reach(self, line, cards, player)

    def opponent_reach(self, line: str, board: NDArray[np.uint8]) -> Floats:
        """Reach by combo of the player who is not to act at the end of a line, [1326]."""
        player = self.place(line, check_board(board)).player
        if player < 0:
            raise ValueError(f"line {line!r}: nobody acts there; ask for the reach of a player")
        return self.reach(line, board, 1 - player)

    def measure_exploitability(self, flops: Sequence[FlopBoards]) -> Exploitability:
        """See `solver.cfr.exploitability`: over the boards of a game, by flop (`group_boards`)."""
        from solver.blueprint.evaluation import Evaluation

        value = Evaluation(self).evaluate(flops)
        sb, bb = (best - mean for best, mean in zip(value.best_response, value.expected))
        return Exploitability(value.exploitability, "mbb/hand", gains=(sb, bb))


def count_textures(rows: Rows) -> int:
    """Sets of rows among rows by key."""
    return len({key.texture for key in rows} - {ALL_TEXTURES}) or 1
