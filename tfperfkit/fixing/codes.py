"""The findings that ``table`` has fixers for, known without LibCST, whose import takes as long as a whole report."""

MECHANICAL = frozenset(
    {
        "CMP001",
        "EAG001",
        "EAG003",
        "EAG004",
        "EAG008",
        "INP001",
        "INP002",
        "INP003",
        "INP004",
        "INP006",
        "INP007",
        "INP011",
        "INP016",
        "OPS003",
        "OPS006",
        "PRC003",
        "RET001",
        "RET002",
        "RET003",
        "RET014",
        "STP001",
        "STP002",
        "STP005",
        "STP009",
    }
)
