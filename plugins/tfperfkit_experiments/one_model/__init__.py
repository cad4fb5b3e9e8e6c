"""The experiment ``one-model``."""
