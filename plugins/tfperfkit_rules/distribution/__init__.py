"""Rules about training on several devices and in several processes."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.distribution.divided import divided_batch
from tfperfkit_rules.distribution.late_rank import late_rank
from tfperfkit_rules.distribution.one_device import one_device
from tfperfkit_rules.distribution.servers import uneven_servers
from tfperfkit_rules.distribution.sharding import undivided_data
from tfperfkit_rules.distribution.small_exchanges import small_exchanges
from tfperfkit_rules.distribution.sparse import gathered_slices, made_dense

RULES: tuple[Rule, ...] = (
    gathered_slices,
    made_dense,
    small_exchanges,
    one_device,
    divided_batch,
    uneven_servers,
    undivided_data,
    late_rank,
)
