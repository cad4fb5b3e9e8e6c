"""``tfperf report``: what a trace that somebody else recorded can tell."""
