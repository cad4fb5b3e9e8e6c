"""Lines of compiled graphs: the trace joined with the stacks on which operations were built."""
