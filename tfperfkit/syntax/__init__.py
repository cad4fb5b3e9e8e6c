"""Questions about the user's source, answered by its syntax tree: for example, which functions of libraries its names
mean.
"""
