"""Quantities that rules of several families compute from the evidence."""
