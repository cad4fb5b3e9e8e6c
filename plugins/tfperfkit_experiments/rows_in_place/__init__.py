"""The experiment ``rows-in-place``."""
