"""The version, for whoever must say it without importing the package's front."""

__version__ = "0.1.0"
