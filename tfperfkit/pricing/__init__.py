"""Time that a remedy takes off: rules state facts, and one engine prices them.

A rule states its remedy, the part of the time that the remedy changes (``Part``), and what is left of that part
afterwards (``Left``). ``price`` makes a gain of these.
"""

from tfperfkit.pricing.facts import Left as Left
from tfperfkit.pricing.facts import Part as Part
from tfperfkit.pricing.remedies import bound as bound
from tfperfkit.pricing.remedies import price as price
