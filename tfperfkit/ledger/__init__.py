"""Account of the time of a step, or of other repeated work: facts that rules and the diagnosis share."""
