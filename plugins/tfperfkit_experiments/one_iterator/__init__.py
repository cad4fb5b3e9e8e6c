"""The experiment ``one-iterator``."""
