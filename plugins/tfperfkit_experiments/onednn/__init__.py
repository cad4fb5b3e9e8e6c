"""The experiment ``onednn``."""
