"""Pictures of the flop textures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstractions.cards import format_cards
from abstractions.isomorphism import canonical_boards
from abstractions.textures import flop_features
from artifacts.bundle import Bundle
from artifacts.readers import read_textures

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def texture_figures(bundle: Bundle) -> dict[str, Figure]:
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
