"""The experiment ``one-gradient``."""
