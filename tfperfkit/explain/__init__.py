"""Meaning of the words and codes of a report, from the pages of the documentation."""
