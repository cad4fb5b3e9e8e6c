"""Instruments for everything that feeds the steps: datasets, Keras' adapters, files, functions that return equal
values.
"""
