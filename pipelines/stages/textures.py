"""Stage `textures`: flops clustered into textures, with their turn and river transitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards
from abstractions.features.histograms import equity_histograms
from abstractions.textures import build_textures, equity_spread
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.stages.rivers import Bounds, board_chunks, river_counts

_FLOPS_PER_TASK = 32


@dataclass(frozen=True)
class TexturesConfig:
    """How many textures and transitions; the seed starts the clusterings."""

    textures: int
    turn_transitions: int | str
    river_transitions: int | str
    seed: int


def _equities(bounds: Bounds, counts: NDArray[np.uint16]) -> NDArray[np.float64]:
    return equity_histograms(3, *bounds, counts, bins=2)[1]


def compute(config: TexturesConfig, inputs: Inputs, run: StageRun) -> Output:
    """Texture of each canonical flop, medoids, weights, and the transition of each turn and river card."""
    counts = river_counts(run)
    parts = run.map(_equities, board_chunks(3, _FLOPS_PER_TASK), shared=counts, status="flop equities")
    spread = equity_spread(np.concatenate(parts))
    rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(1,)))
    textures = build_textures(
        spread,
        rng,
        textures=config.textures,
        turn_transitions=config.turn_transitions,
        river_transitions=config.river_transitions,
    )
    flops = inputs["flops"]["flops"]
    sizes = np.bincount(textures.texture_of_flop, minlength=config.textures)
    return Output(
        tables={
            "textures": {
                "board": flops["board"],
                "text": flops.table().column("text").to_pylist(),
                "weight": flops["weight"],
                "texture": textures.texture_of_flop,
                "equity_spread": spread,
                "turn_transition": textures.turn_transition,
                "river_transition": textures.river_transition,
            },
            "texture_summary": {
                "weight": textures.weights,
                "members": sizes,
                "medoid": textures.medoids,
                "medoid_text": [format_cards(flops["board"][medoid]) for medoid in textures.medoids],
                "turn_counts": textures.turn_counts,
                "river_counts": textures.river_counts,
            },
        },
        metrics={
            "textures": len(sizes),
            "largest_texture": int(sizes.max()),
            "smallest_texture": int(sizes.min()),
            "turn_transitions": float((textures.turn_counts > 0).sum(axis=1).mean()),
            "river_transitions": float((textures.river_counts > 0).sum(axis=(1, 2)).mean()),
        },
    )
