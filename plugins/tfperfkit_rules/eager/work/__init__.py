"""EAG008: a loop outside of training, a long call, or what stands beside a compiled training step, runs TensorFlow
operation by operation."""

from __future__ import annotations

from tfperfkit_rules.eager.work.finding import eager_work as eager_work
