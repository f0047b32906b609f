"""What every algorithm shares: discount schedules, their clock, vector kernels, exploitability."""
