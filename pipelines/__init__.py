"""The stage engine, one module per stage, one module per command."""
