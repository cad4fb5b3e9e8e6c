"""The version, for whoever must say it without importing the package's front."""

__version__ = "1.0.0rc1"
