"""Reports in notebooks: what a cell shows, and cells by their number."""
