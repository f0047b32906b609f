"""Bundles: schema, reader, writer, store, off-path cleaning."""

from artifacts.blueprint.bundle import BlueprintBundle, open_blueprint
from artifacts.blueprint.preflop_bundle import PreflopBundle
from artifacts.bundle import Bundle, open_bundle
from artifacts.errors import BundleError
from artifacts.spot_bundle import SpotBundle

__all__ = [
    "BlueprintBundle",
    "Bundle",
    "BundleError",
    "PreflopBundle",
    "SpotBundle",
    "open_blueprint",
    "open_bundle",
]
