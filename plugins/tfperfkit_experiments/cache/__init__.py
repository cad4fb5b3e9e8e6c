"""The experiment ``cache``."""
