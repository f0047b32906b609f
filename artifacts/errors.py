"""What can be wrong with a bundle, said in one line that names the file."""

from __future__ import annotations


class BundleError(Exception):
    """A bundle that cannot be trusted or read: the message names the file and what is wrong with it."""
