"""Code that runs in the script's process: the session, its windows, and the probes within them."""
