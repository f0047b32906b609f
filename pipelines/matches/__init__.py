"""Batches of hands: matches and local best response, kept in the store piece by piece."""
