"""A finished report to the trackers that a person named; one that fails costs one line."""
