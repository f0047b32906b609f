"""Bundles: schema, reader, writer, store, off-path cleaning."""

from artifacts.bundle import Bundle, open_bundle
from artifacts.errors import BundleError

__all__ = ["Bundle", "BundleError", "open_bundle"]
