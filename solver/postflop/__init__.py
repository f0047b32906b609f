"""Hold'em spots from the flop on, solved exactly."""
