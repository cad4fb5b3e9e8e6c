"""The experiment ``longer-epochs``."""
