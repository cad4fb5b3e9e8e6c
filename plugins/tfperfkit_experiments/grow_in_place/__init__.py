"""The experiment ``grow-in-place``."""
