"""The experiment ``compile-once``."""
