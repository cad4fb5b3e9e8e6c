"""Where training steps can be seen: markers at the calls that fetch batches and update weights."""
