"""Mistakes of the person at the keyboard: one line, exit code 2."""

from __future__ import annotations


class UserError(Exception):
    """The message names the config key or file, what was found and what is accepted."""
