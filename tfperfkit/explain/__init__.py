"""What the words and codes of a report mean, from the pages of the documentation."""
