"""How a line plays over the cards to come: by the blueprint, or over the solves that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS, format_cards, parse_board
from abstractions.isomorphism import canonical_boards
from artifacts.blueprint.betting_lines import Decision
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.line_reach import line_play
from artifacts.blueprint.multiway_bundle import MultiwayBundle
from artifacts.hand_values import hand_equities, mean_over, met_weights
from artifacts.subgame_bundle import SubgameBundle
from pipelines.commands.chart_rows import NET, RECEIVED
from pipelines.explorer.catalogue import Catalogue, Source
from pipelines.explorer.models import ReportModel, ReportRow
from pipelines.explorer.positions import Positions
from pipelines.explorer.refusals import Refusal
from solver.betting.lines import TURN, split_street, without_prefix

Cards = NDArray[np.uint8]
#: Flops of a report, evenly spread over all canonical ones.
MAX_FLOPS = 500
#: Run-outs of each board on which a blueprint's EVs are measured: a mean over the range needs fewer than a hand.
RUNOUTS = 24
#: The street that follows each one.
_STREETS: tuple[Literal["flop", "turn", "river"], ...] = ("flop", "turn", "river")


def card_report(
    positions: Positions, name: str, line: str, board: Cards, *, flops: int, solved: bool
) -> ReportModel:
    """A row for each card, or each flop, that may come at a line where the betting of a street is over.

    Parameters
    ----------
    flops
        How many flops a report over flops has.
    solved
        Only boards whose street was solved and kept, as they were solved.
    """
    catalogue = positions.catalogue
    with catalogue.using(name):
        position = positions.at(name, line, board)
    if isinstance(position.source, MultiwayBundle):
        raise Refusal(f"source {name!r} has {len(position.source.seats)} seats; reports are of games of two")
    if position.kind != "deal" or not isinstance(position.source, BlueprintBundle | SubgameBundle):
        raise Refusal(
            f"line {line!r}: a report needs a line at whose end cards are dealt, such as b250c, of a blueprint"
        )
    over: Literal["flop", "turn", "river"] = _STREETS[position.street]
    if solved:
        rows, actions = _solved_rows(catalogue, name, position.line, board)
        missing, meaning = 0, RECEIVED
    else:
        source = position.source
        if isinstance(source, SubgameBundle):
            source = catalogue.below(source)
        decision = source.decision(position.line)
        actions, rows, missing = list(decision.actions), [], 0
        meaning = NET if position.street == TURN else f"{NET}, on up to {RUNOUTS} run-outs"
        for cards, weight in _boards(board, flops):
            try:
                # Others are answered between two boards.
                with catalogue.using(name):
                    ev = _mean_ev(source, decision, cards)
                    rows.append(_row(source, decision.line, cards, len(board), weight, ev))
            except ValueError:
                # The blueprint has no buckets on this board.
                missing += 1
    shares = np.array([row.frequencies for row in rows])
    weights = np.array([row.weight for row in rows])
    mean = (weights @ shares / weights.sum()).round(6).tolist() if len(rows) and weights.sum() > 0 else []
    return ReportModel(
        over=over,
        line=position.line,
        actions=actions,
        rows=rows,
        missing=missing,
        mean=mean,
        ev_meaning=meaning,
    )


def _boards(board: Cards, flops: int) -> Iterator[tuple[Cards, float]]:
    """Boards with the next cards, each with how often it comes."""
    if len(board):
        for card in range(NUM_CARDS):
            if card not in board:
                yield np.append(board, np.uint8(card)), 1.0
        return
    known = canonical_boards(3)
    chosen = np.unique(np.linspace(0, len(known.boards) - 1, min(flops, MAX_FLOPS)).astype(int))
    for number in chosen.tolist():
        yield known.boards[number].astype(np.uint8), float(known.weights[number])


def _mean_ev(source: BlueprintBundle, decision: Decision, board: Cards) -> float | None:
    """What the player to act wins on average, in big blinds; None where the cards to come have no buckets."""
    try:
        chips = source.continuation_value(decision.line, board, runouts=RUNOUTS)
    except ValueError:
        return None
    own, other = (source.range(decision.line, seat, board) for seat in (decision.player, 1 - decision.player))
    won = mean_over(met_weights(own, other), chips)
    return None if won is None else won / source.game.big_blind


def _row(
    source: Source,
    line: str,
    board: Cards,
    before: int,
    weight: float,
    ev: float | None = None,
    name: str | None = None,
) -> ReportRow:
    decision = source.decision(line)
    play = line_play(source, line, board)
    own, other = (source.range(line, seat, board) for seat in (decision.player, 1 - decision.player))
    equity = hand_equities(source, line, board, 1 - decision.player)
    return ReportRow(
        board=format_cards(board),
        cards=format_cards(board[before:]),
        weight=weight * float(play.reach.sum()) if name is None else weight,
        seat=source.seats[decision.player],
        frequencies=np.nan_to_num(play.frequencies).round(6).tolist(),
        equity=mean_over(met_weights(own, other), equity),
        ev=ev,
        source=name,
    )


def _solved_rows(
    catalogue: Catalogue, name: str, line: str, board: Cards
) -> tuple[list[ReportRow], list[str]]:
    """Rows of the solves of a line's next street; of those with other actions than the newest, none."""
    source = catalogue.open(name)
    assert isinstance(source, BlueprintBundle | SubgameBundle)
    key = source.blueprint_key if isinstance(source, SubgameBundle) else source.key
    start = without_prefix(line) + "/"
    rows: list[ReportRow] = []
    actions: list[str] = []
    wanted = set(board.tolist())
    for other, manifest in catalogue.manifests().items():
        if manifest.stage != "subgame" or manifest.inputs.get("export") != key:
            continue
        dealt = parse_board(str(manifest.config.get("board", "")))
        root = split_street(str(manifest.config.get("line", "")))[0]
        if root != start or set(dealt[: len(board)].tolist()) != wanted or manifest.config.get("locked"):
            continue
        solve = catalogue.open(other)
        assert isinstance(solve, SubgameBundle)
        decision = solve.decision(start)
        actions = actions or list(decision.actions)
        if list(decision.actions) != actions:
            continue
        found = solve.solved.by_line[start]
        weights = met_weights(*(solve.range(start, seat) for seat in (found.player, 1 - found.player)))
        ev = mean_over(weights, found.ev)
        big_blind = catalogue.below(solve).game.big_blind
        rows.append(_row(solve, start, dealt, len(board), 1.0, None if ev is None else ev / big_blind, other))
    return rows, actions
