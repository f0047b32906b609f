"""What may be done: games, bet sizes, rules, lines, and the public tree."""
