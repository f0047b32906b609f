"""Two to nine seats: own hands as a vector against sampled opponents."""
