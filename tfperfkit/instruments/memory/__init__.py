"""The process's memory, and the objects that hold it."""
