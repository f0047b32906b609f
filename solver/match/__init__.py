"""Strategies at a table: matches with little variance, and the local best response."""
