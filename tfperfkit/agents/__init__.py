"""``tfperf mcp``: the commands as tools of the Model Context Protocol, for coding agents."""
