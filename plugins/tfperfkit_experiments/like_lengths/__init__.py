"""The experiment ``like-lengths``."""
