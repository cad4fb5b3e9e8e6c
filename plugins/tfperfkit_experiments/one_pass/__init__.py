"""The experiment ``one-pass``."""
