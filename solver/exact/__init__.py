"""Exact two-player solving: every hand and every card, any deck.

`sweep` is the algorithm; read it first. `node_kernels`, `street_terminals` and `board_links` are its steps. It walks
the programs of `betting_plan` over the boards of `deals`; `engine` is the face around it. A tree that ends early
takes its values from a provider (`leaf_rows`), such as a fixed strategy (`fixed_leaves`). `strategies` judges any
strategy.
"""
