"""Watch mode next to the script: finds changes in a long run, and asks the script's process for a window."""
