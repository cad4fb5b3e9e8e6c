"""EAG008: a loop outside of training, a long call, or code next to a compiled training step, runs as eager
operations."""

from __future__ import annotations

from tfperfkit_rules.eager.work.finding import eager_work as eager_work
