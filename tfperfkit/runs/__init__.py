"""``tfperf runs``: lists many runs, builds tables from them, and prunes runs."""
