"""The experiment ``env``."""
