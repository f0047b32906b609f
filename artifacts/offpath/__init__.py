"""Which hands never get to a line, and the table that says so."""
