"""Equities of two to nine hands or ranges, by set of winners."""

from abstractions.multiway_equity.equity import MultiwayEquity, multiway_equity

__all__ = ["MultiwayEquity", "multiway_equity"]
