"""Numbers of the rules that do not stand in a rule's own file yet."""
