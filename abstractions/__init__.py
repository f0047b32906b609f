"""Cards: evaluator, isomorphism, ranges, equities, features, clustering."""
