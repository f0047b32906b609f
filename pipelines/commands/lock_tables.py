"""Locks as people write them, in a file or on the page: a decision whose strategy is given, and for which hands."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from abstractions.ranges import parse_range
from artifacts.agents import Agent
from artifacts.blueprint.preflop_bundle import PreflopBundle
from artifacts.spot_bundle import SpotBundle
from artifacts.subgame_bundle import SubgameBundle
from solver.betting.lines import without_prefix
from solver.betting.public_tree import NodeKind
from solver.subgame.locks import FREE, action_lock
from solver.subgame.subgame import Subgame

Floats = NDArray[np.float64]
#: Bounds of what is written.
MAX_LINE, MAX_SOURCE, MAX_RANGE, MAX_LOCKS = 200, 600, 2000, 8


class Lock(BaseModel):
    """A decision whose strategy is given."""

    model_config = ConfigDict(extra="forbid")
    line: Annotated[str, Field(max_length=MAX_LINE, description="the hand so far: b250c/xb300")]
    strategy: dict[Annotated[str, Field(max_length=12)], Annotated[float, Field(ge=0.0, le=1.0)]] | None = (
        Field(
            default=None,
            description="probability by token, the same for every hand; left out, as `source` plays",
        )
    )
    hands: Annotated[str, Field(max_length=MAX_RANGE)] | None = Field(
        None, description="a range; others stay free"
    )
    source: Annotated[str, Field(min_length=1, max_length=MAX_SOURCE)] | None = Field(
        default=None, description="take the strategy of this source at the line"
    )


def lock_table(
    subgame: Subgame, lock: Lock, source: PreflopBundle | SpotBundle | SubgameBundle | Agent | None
) -> Floats:
    """The strategy that a lock fixes, ``[action, 1326]``; negative where a hand stays free.

    Parameters
    ----------
    source
        What `lock.source` names; needed where the lock has no strategy.
    """
    line = without_prefix(lock.line)
    node = subgame.node_at(line)
    if subgame.tree.kind[node] != NodeKind.DECISION:
        raise ValueError(f"locks: nobody acts at line {line!r}")
    tokens = [subgame.tree.token(child) for child in subgame.tree.children_of(node).tolist()]
    if lock.strategy is not None:
        return action_lock(tokens, lock.strategy, lock.hands)
    if source is None:
        raise ValueError("locks: give a strategy, or the source whose strategy is taken")
    decision = source.decision(line)
    unknown = [token for token in decision.tokens if token not in tokens]
    if unknown:
        raise ValueError(
            f"locks: {lock.source!r} plays {' '.join(unknown)} at {line!r}, which the sizes of this solve do not have"
        )
    shares = source.probabilities(decision, np.array(subgame.board, dtype=np.uint8))
    table = np.zeros((len(tokens), shares.shape[1]))
    for token, row in zip(decision.tokens, shares):
        table[tokens.index(token)] = row
    held = np.ones(shares.shape[1]) if lock.hands is None else np.asarray(parse_range(lock.hands))
    # A source has nothing to say about hands that it does not hold.
    known = np.isclose(table.sum(axis=0), 1.0, atol=1e-3) & (held > 0.0)
    table[:, known] /= table[:, known].sum(axis=0)
    return np.where(known, table, FREE)
