"""What the user's source says by its syntax tree: which functions of libraries its names stand for."""
