"""The experiment ``no-strategy``."""
