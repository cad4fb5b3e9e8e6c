"""The seams that experiments use: in the process of a trial only, where a frame of ours on the stack does no harm."""
