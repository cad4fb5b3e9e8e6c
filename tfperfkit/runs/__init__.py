"""``tfperf runs``: many runs as a list, as tables, and fewer of them."""
