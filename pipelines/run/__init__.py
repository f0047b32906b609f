"""Running stages: engine, cluster, tracking, progress."""
