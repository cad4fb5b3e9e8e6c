"""Work outside training, or next to a compiled training step, that runs as eager operations."""

from __future__ import annotations

from tfperfkit_rules.eager.work.finding import eager_work as eager_work
