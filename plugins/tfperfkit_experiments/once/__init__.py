"""The experiment ``once``."""
