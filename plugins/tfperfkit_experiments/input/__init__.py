"""The experiment ``input``."""
