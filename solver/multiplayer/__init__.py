"""Play of three or more players on a real board: lines after the flop, and subgames."""
