"""Where the time of a step, or of other repeated work, went: facts that rules and the diagnosis share."""
