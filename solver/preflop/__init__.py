"""Heads-up play before the flop over the 169 hand classes."""
