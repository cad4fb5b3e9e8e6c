"""The experiment ``threads``."""
