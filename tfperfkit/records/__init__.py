"""Records that are written while the script runs and read by the analysis: plain records, and their arithmetic."""
