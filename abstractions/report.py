"""How good an abstraction is: figures of a bucketing, street by street.

Everything follows from three sums per bucket (see `abstractions.buckets.assign_buckets`): the weight of its
hands, and the weighted sums of their equity and of its square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class StreetReport:
    """Quality of the buckets of one street.

    Attributes
    ----------
    figures : sd_mean, sd_p95, sd_max (standard deviation of equity within a bucket; mean and percentile over
        buckets), sd_hands (mean over hands), variance_explained, buckets, empty, occupancy_min,
        occupancy_max (shares of all hands) and occupancy_entropy (1 if all buckets hold equally many)
    mean : float64 [buckets], mean equity of each bucket; nan where empty
    deviation : float64 [buckets], standard deviation of equity within it; nan where empty
    occupancy : float64 [buckets], share of all hands
    """

    figures: dict[str, float]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    occupancy: NDArray[np.float64]


def street_report(moments: NDArray) -> StreetReport:
    """Report of one street.

    Parameters
    ----------
    moments : [..., 3], weight, weighted equity and weighted squared equity of each bucket; textures, if there
        are several, come first, and each of their buckets counts as one

    >>> report = street_report(np.array([[2.0, 1.0, 0.52], [2.0, 1.6, 1.28]]))
    >>> round(report.figures["sd_mean"], 6), round(report.figures["sd_max"], 6)
    (0.05, 0.1)
    """
    sums = np.asarray(moments, dtype=np.float64)
    if sums.shape[-1] != 3 or sums.size == 0:
        raise ValueError(f"moments of shape {sums.shape}: expected three sums for each bucket")
    weight, first, second = sums.reshape(-1, 3).T
    if weight.min() < 0 or weight.sum() <= 0:
        raise ValueError("moments: expected weights of at least zero, and not all of them zero")
    filled = weight > 0
    mean = np.full(weight.shape, np.nan)
    deviation = np.full(weight.shape, np.nan)
    mean[filled] = first[filled] / weight[filled]
    deviation[filled] = np.sqrt(np.maximum(second[filled] / weight[filled] - mean[filled] ** 2, 0))
    total = weight.sum()
    occupancy = weight / total
    within = float((occupancy[filled] * deviation[filled] ** 2).sum())
    overall = float(second.sum() / total - (first.sum() / total) ** 2)
    entropy = float(-(occupancy[filled] * np.log(occupancy[filled])).sum())
    figures = {
        "sd_mean": float(deviation[filled].mean()),
        "sd_p95": float(np.percentile(deviation[filled], 95)),
        "sd_max": float(deviation[filled].max()),
        "sd_hands": float((occupancy[filled] * deviation[filled]).sum()),
        "variance_explained": 1 - within / overall if overall > 0 else 1.0,
        "buckets": float(len(weight)),
        "empty": float((~filled).sum()),
        "occupancy_min": float(occupancy.min()),
        "occupancy_max": float(occupancy.max()),
        "occupancy_entropy": entropy / float(np.log(len(weight))) if len(weight) > 1 else 1.0,
    }
    return StreetReport(figures, mean, deviation, occupancy)


def abstraction_report(moments: dict[str, NDArray]) -> dict[str, StreetReport]:
    """Reports by street name, in the order given."""
    return {street: street_report(sums) for street, sums in moments.items()}
