"""Reports that a person reads: many flops at a glance, and a run from beginning to end."""
