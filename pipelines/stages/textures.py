"""Stage `textures`: flops clustered into textures, with their turn and river transitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards
from abstractions.features.histograms import equity_histograms
from abstractions.isomorphism import canonical_boards
from abstractions.textures import build_textures, equity_spread, flop_features
from artifacts.bundle import Bundle
from artifacts.readers import read_textures
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.stages.rivers import Bounds, board_chunks, river_counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def figures(bundle: Bundle) -> dict[str, Figure]:
    """A map of the flops in feature space, coloured by texture, medoids written out."""
    from matplotlib.figure import Figure

    textures = read_textures(bundle)
    features = flop_features(bundle["textures"]["equity_spread"])
    weights = canonical_boards(3).weights / canonical_boards(3).weights.sum()
    scaled = (features - weights @ features) / np.maximum(features.std(axis=0), 1e-9)
    _, vectors = np.linalg.eigh(np.cov(scaled, rowvar=False, aweights=weights))
    x, y = scaled @ vectors[:, -1], scaled @ vectors[:, -2]
    figure = Figure(figsize=(10, 8))
    axes = figure.add_subplot()
    axes.scatter(x, y, c=textures.texture_of_flop, cmap="tab20", s=8, alpha=0.7)
    largest = np.argsort(-textures.weights, kind="stable")[:60]
    for texture in largest:
        medoid = textures.medoids[texture]
        share = textures.weights[texture] / 22100
        words = f"{format_cards(canonical_boards(3).boards[medoid])} {share:.1%}"
        axes.annotate(words, (x[medoid], y[medoid]), fontsize=6)
    axes.set(xlabel="first principal component", ylabel="second principal component")
    axes.set_title(
        f"{len(textures.weights)} flop textures (medoids of the largest named, with their share of flops)"
    )
    return {"texture_map": figure}
