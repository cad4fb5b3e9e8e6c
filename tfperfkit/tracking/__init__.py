"""A finished report to the trackers that a user named; one that fails costs one line."""
