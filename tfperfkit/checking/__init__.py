"""``tfperf check``: whether a script keeps its budget, for continuous integration."""

#: The formats of the result, besides text.
FORMATS = ("json", "markdown", "junit", "sarif", "github", "review")
