"""The experiment ``metrics``."""
