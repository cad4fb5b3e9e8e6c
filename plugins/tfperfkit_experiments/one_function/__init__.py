"""The experiment ``one-function``."""
