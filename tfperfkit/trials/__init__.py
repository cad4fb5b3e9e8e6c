"""Trials: the script run several times, as it is and changed, in turn, on a view of its folder."""
