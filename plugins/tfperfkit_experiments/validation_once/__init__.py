"""The experiment ``validation-once``."""
