"""What feeds the steps: datasets, Keras' adapters, files, functions that return the same."""
