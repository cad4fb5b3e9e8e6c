"""``tfperf check``: whether a script keeps its budget, for continuous integration."""
