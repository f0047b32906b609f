"""A game on an abstraction, ready to be trained: what the training stages put together before their first iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked_dataclass

from abstractions.isomorphism import canonical_boards
from abstractions.textures import Textures, medoid_boards
from artifacts.bundle import Bundle
from artifacts.readers import read_bucket_counts, read_game, read_textures
from pipelines.config.training import SolverConfig
from pipelines.run.engine import NO_EFFECT, Inputs, StageRun
from pipelines.training.evaluation_boards import TIER_NAME, evaluation_flops
from pipelines.training.fleet import HostFleet, open_fleet
from pipelines.training.hosts import Postflop
from solver.betting.game import GameConfig
from solver.blueprint.boards import BatchBuckets, BoardSampler
from solver.blueprint.flop_values import FlopBoards
from solver.blueprint.pot_types import PotTypes, pot_types
from solver.blueprint.trainer import BlueprintTrainer, Pruning
from solver.blueprint.trunk import TrunkGame
from solver.validation import one_line_init


@one_line_init
@checked_dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class TrainingConfig(SolverConfig):
    """What both phases share: the section `solver`, and what it is applied to.

    Attributes
    ----------
    game
        The game.
    tier
        Boards that exploitability is measured on.
    seed
        Of the boards.
    """

    game: GameConfig
    tier: str = field(metadata=TIER_NAME)
    seed: int
    # When a checkpoint is saved changes nothing. Saving takes `phase.SAVING_SHARE` of the time at most.
    checkpoint_minutes: float = field(metadata=NO_EFFECT)
    # Of games of three or more seats, which are trained otherwise.
    postflop: Literal["joint", "checkdown"] = field(default="joint", metadata=NO_EFFECT)


@dataclass(frozen=True, eq=False)
class Setup:
    """A game on an abstraction, ready to be trained."""

    config: TrainingConfig
    game: TrunkGame
    pots: PotTypes
    postflop: Postflop
    textures: Textures
    buckets: Bundle
    flops: list[FlopBoards]
    seen: Bundle | None = None

    @classmethod
    def build(cls, config: TrainingConfig, inputs: Inputs) -> Setup:
        """Put the inputs of a stage together."""
        textures, buckets = read_textures(inputs["textures"]), inputs["buckets"]
        game = read_game(config.game, inputs["preflop_equity"])
        pots = pot_types(game, config.pot_types)
        counts = read_bucket_counts(buckets)
        equity = None
        if config.showdown == "bucket":
            shape = (-1, counts[2], counts[2]) if buckets.config["scope"] == "texture" else (counts[2],) * 2
            equity = np.array(inputs["bucket_equity"]["equity_river"]["equity"]).reshape(shape)
        seen = inputs.get("opponent_buckets")
        finer = None if seen is None else read_bucket_counts(seen)[:2]
        postflop = Postflop(game.tree, pots, counts, equity, config.responds, finer)
        flops = evaluation_flops(config.tier, textures, buckets.config["boards"])
        return cls(config, game, pots, postflop, textures, buckets, flops, seen)

    def sampler(self, number: int) -> BoardSampler:
        """Boards of a phase; each number has boards of its own."""
        config = self.config
        sequence = np.random.SeedSequence(config.seed, spawn_key=(4, number))
        seed = int(sequence.generate_state(1, np.uint64)[0])
        if config.boards == "medoids":
            cards, weights, owners = medoid_boards(self.textures)
        else:
            flops = canonical_boards(3)
            cards, weights, owners = flops.boards, flops.weights, self.textures.texture_of_flop
        return BoardSampler(cards, weights, owners, config.batch, seed, config.epoch_length)

    def open_fleet(self, run: StageRun) -> HostFleet:
        """Fresh shards on the run's cluster."""
        by_texture = self.buckets.config["scope"] == "texture"
        weights = self.textures.weights if by_texture else None
        return open_fleet(self.postflop, weights, self.buckets, run.cluster, self.seen)

    def trainer(self, fleet: HostFleet) -> BlueprintTrainer:
        """A trainer on these shards, before any phase."""
        below = self.config.prune_below
        pruning = None if below is None else Pruning(below)
        bucketing = BatchBuckets(self.postflop.num_buckets)
        opponents = bucketing if self.config.responds else None
        return BlueprintTrainer(
            self.game,
            self.pots,
            bucketing,
            fleet=fleet,
            opponents=opponents,
            guarded=self.config.preflop == "guarded",
            pruning=pruning,
        )
