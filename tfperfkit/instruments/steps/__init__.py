"""Find training steps: markers at the calls that fetch batches and update weights."""
