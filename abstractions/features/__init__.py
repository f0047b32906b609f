"""What a hand is worth on a board, as numbers that can be clustered."""
