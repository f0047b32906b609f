"""Solved subgames in a store: each street that was solved is a bundle, found by the content of its spot.

A bundle of stage `subgame` answers at the decisions of its street as a saved postflop solve does. Its lines are those
of the hand, from its start on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import check_board, format_cards, hole_names, live_combos, parse_board
from artifacts.blueprint.betting_lines import Decision
from artifacts.blueprint.combo_rows import NOT_HELD, ComboRows
from artifacts.blueprint.preflop_bundle import BoardLike, Player
from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.format.array_pack import pack_arrays, unpack_arrays
from artifacts.postflop_offpath import reasons_by_key
from solver.betting.lines import HEADS_UP_SEATS, STREETS, history_key, parse_seat, street_of, without_prefix
from solver.subgame.config import SubgameConfig
from solver.subgame.solved_street import SolvedDecision, SolvedStreet

Floats = NDArray[np.float64]
STAGE = "subgame"
_KEY_LENGTH = 20
_FIGURES = ("seconds", "iterations", "num_leaves", "memory_bytes")
_FACTS = ("player", "actions", "labels", "pot", "committed")


class SubgameBundle(Bundle):
    """A bundle of stage `subgame`.

    Attributes
    ----------
    seats
        Names of the two players, by number.
    """

    seats = HEADS_UP_SEATS

    @cached_property
    def solved(self) -> SolvedStreet:
        """The street as the solver left it."""
        about = json.loads(self.text("street.json"))
        arrays = {name: np.array(array) for name, array in unpack_arrays(self, "street").items()}
        found = {
            line: SolvedDecision(
                player=decision["player"],
                actions=tuple(decision["actions"]),
                strategy=arrays[f"strategy/{number}"].astype(np.float64),
                ev=arrays[f"ev/{number}"].astype(np.float64),
                action_ev=arrays[f"action_ev/{number}"].astype(np.float64),
                labels=tuple(decision["labels"]),
                pot=decision["pot"],
                committed=tuple(decision["committed"]),
            )
            for number, (line, decision) in enumerate(about["decisions"].items())
        }
        settings = dict(about["settings"])
        if settings["stacks"] is not None:
            settings["stacks"] = tuple(settings["stacks"])
        return SolvedStreet(
            line=about["line"],
            board=tuple(about["board"]),
            config=SubgameConfig(**settings),
            ranges=(arrays["range/0"], arrays["range/1"]),
            by_line=found,
            reason=about["reason"],
            locked=tuple(about["locked"]),
            **{name: about[name] for name in _FIGURES},
        )

    @property
    def blueprint_key(self) -> str:
        """Key of the exported bundle that the subgame was solved on."""
        return self.manifest.inputs["export"]

    @property
    def parent_key(self) -> str | None:
        """Key of the solve of an earlier street whose ranges this one goes on with; None for the blueprint's."""
        return self.manifest.inputs.get(STAGE)

    @property
    def root_board(self) -> NDArray[np.uint8]:
        """Public cards of the street."""
        return np.array(self.solved.board, dtype=np.uint8)

    def lines(self, street: str | None = None) -> list[str]:
        """Lines of all decisions of the street; of any other street there are none."""
        own = STREETS[street_of(self.solved.root_line)]
        return list(self.solved.by_line) if street in (None, own) else []

    def dealt_range(self, player: int) -> Floats:
        """Weight of each combo of a player at the start of the street, [1326]."""
        return self.solved.ranges[player]

    def decision(self, line: str) -> Decision:
        """Who acts at a line, and what is on offer."""
        line = self._known(line)
        return self._decision(line, self.solved.by_line[line])

    def steps(self, line: str) -> tuple[tuple[Decision, int], ...]:
        """See `solver.strategy.Strategy.steps`; from the start of the street on."""
        here, found = self.solved.root_line, []
        for decision, action in self.solved.steps(without_prefix(line)):
            found.append((self._decision(here, decision), action))
            here += decision.actions[action]
        return tuple(found)

    def probabilities(self, decision: Decision, board: NDArray[np.uint8]) -> Floats:
        """See `solver.strategy.Strategy.probabilities`; as solved."""
        del board  # there is one only
        return self.solved.strategy(decision.line)

    def range(self, line: str, player: Player | None = None, board: BoardLike = "") -> Floats:
        """Weight of each combo of a player at a line, [1326]."""
        self._check_board(board)
        seat = self.decision(line).player if player is None else parse_seat(player)
        return self.solved.range(seat, without_prefix(line))

    def action_values(self, line: str, board: BoardLike = "") -> Floats:
        """Chips that each combo receives from a line on with each action, ``[action, 1326]``; nan if not held.

        The share of the pot is included.
        """
        self._check_board(board)
        return self.solved.by_line[self._known(line)].action_ev

    def postflop(self, line: str, board: BoardLike = "") -> ComboRows:
        """Everything the bundle says about a decision, by combo."""
        self._check_board(board)
        return solved_rows(self.solved, self._known(line))

    def _decision(self, line: str, found: SolvedDecision) -> Decision:
        return Decision(
            line=line,
            street=street_of(line),
            player=found.player,
            actions=found.labels,
            tokens=found.actions,
            row=0,
            pot=found.pot,
            committed=found.committed,
        )

    def _known(self, line: str) -> str:
        text = without_prefix(line)
        for written in (text, text + "/"):
            if written in self.solved.by_line:
                return written
        raise ValueError(
            f"line {line!r}: not a decision of the street that was solved, which begins with {self.solved.root_line!r}"
        )

    def _check_board(self, board: BoardLike) -> None:
        if len(board) == 0:
            return
        cards = parse_board(board) if isinstance(board, str) else check_board(np.asarray(board))
        root = self.root_board
        if set(cards[:3].tolist()) != set(root[:3].tolist()) or cards[3:].tolist() != root[3:].tolist():
            raise ValueError(
                f"board {format_cards(cards)!r}: this subgame was solved on {format_cards(root)}"
            )


def solved_history(solved: SolvedStreet, player: int) -> dict[str, list[float]]:
    """A player's strategy on a solved street under the keys that off-path cleaning reads.

    The history begins with the street.
    """
    live = np.flatnonzero(live_combos(np.array(solved.board, dtype=np.uint8)))
    names = [hole_names()[combo] for combo in live.tolist()]
    table: dict[str, list[float]] = {}
    for line, decision in solved.by_line.items():
        if decision.player == player:
            rows = decision.strategy[:, live].T.tolist()
            table |= {name + street_key(solved, line): row for name, row in zip(names, rows)}
    return table


def street_key(solved: SolvedStreet, line: str) -> str:
    """What the keys of all hands at a decision of a solved street have in common."""
    text = format_cards(sorted(solved.board))
    return history_key(text, street_of(line), line.removeprefix(solved.root_line))


def solved_rows(solved: SolvedStreet, line: str) -> ComboRows:
    """A decision of a solved street by combo."""
    decision = solved.by_line[line]
    live = np.flatnonzero(live_combos(np.array(solved.board, dtype=np.uint8)))
    weights = solved.ranges[decision.player]
    names, suffix = hole_names(), street_key(solved, line)
    held = {names[combo]: float(weights[combo]) for combo in np.flatnonzero(weights).tolist()}
    # Heads-up the big blind, seat 1, acts first after the flop.
    reasons = reasons_by_key(solved_history(solved, decision.player), held, hero_is_oop=decision.player == 1)
    shares = np.where(weights > 0.0, decision.strategy, np.nan)
    return ComboRows(
        combos=live,
        actions=decision.labels,
        raw_probability=shares[:, live].T,
        reasons=tuple(
            reasons.get(names[combo] + suffix) if weights[combo] > 0.0 else NOT_HELD
            for combo in live.tolist()
        ),
        reach=solved.range(decision.player, line)[live],
    )


@dataclass(frozen=True)
class StoredSubgames:
    """The `SolutionCache` of a store.

    Attributes
    ----------
    store
        Where the bundles lie.
    blueprint
        Key of the exported bundle that the subgames are solved on.
    code
        Version of the code that solves them.
    parent
        Key of the kept solve of an earlier street whose ranges they go on with; None where the blueprint's do.
    """

    store: BundleStore
    blueprint: str
    code: str
    parent: str | None = None

    @property
    def blueprint_key(self) -> str:
        """Identity of blueprint, solver and earlier solve: a change of any makes solves anew."""
        return "/".join(part for part in (self.blueprint, self.code, self.parent) if part is not None)

    def name(self, key: str) -> str:
        """Folder name of what is kept under a key."""
        return f"{STAGE}-{key[:_KEY_LENGTH]}"

    def get(self, key: str) -> SolvedStreet | None:
        """What was kept under a key, None for nothing."""
        short = key[:_KEY_LENGTH]
        if not self.store.has(STAGE, short):
            return None
        bundle = self.store.open(STAGE, short)
        assert isinstance(bundle, SubgameBundle)
        return bundle.solved

    def put(self, key: str, solved: SolvedStreet) -> None:
        """Keep a solved street; strategies and EVs in single precision."""
        arrays = {f"range/{seat}": weights for seat, weights in enumerate(solved.ranges)}
        for number, decision in enumerate(solved.by_line.values()):
            for name in ("strategy", "ev", "action_ev"):
                arrays[f"{name}/{number}"] = getattr(decision, name).astype(np.float32)
        about = {
            "line": solved.line,
            "board": list(solved.board),
            "settings": asdict(solved.config),
            "locked": list(solved.locked),
            "reason": solved.reason,
            "decisions": {
                line: {name: getattr(decision, name) for name in _FACTS}
                for line, decision in solved.by_line.items()
            },
            **{name: getattr(solved, name) for name in _FIGURES},
        }
        self.store.commit(
            pack_arrays("street", arrays),
            texts={"street.json": json.dumps(about) + "\n"},
            stage=STAGE,
            key=key[:_KEY_LENGTH],
            code=self.code,
            config=_spot_config(solved),
            inputs={"export": self.blueprint} | ({} if self.parent is None else {STAGE: self.parent}),
            metrics={"iterations": solved.iterations, "seconds": solved.seconds},
        )


def _spot_config(solved: SolvedStreet) -> dict[str, str | int | Sequence[str]]:
    """What lists of solves show, so that they need not read the solves."""
    return {
        "line": solved.line,
        "board": format_cards(list(solved.board)),
        "depth": str(solved.config.depth),
        "safety": solved.config.safety,
        "locked": list(solved.locked),
    }
