"""DST004: a strategy for several devices of one machine finds only one.

The share is the part of a step outside its compiled function: input, Python of TensorFlow and Keras, single operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.gain import Unknown
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.parts import PartName
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared

TITLES = {"DST004": "MirroredStrategy trains on a single device"}

_STRATEGY = Measured(
    "steps of two small networks, processor time with MirroredStrategy on one device and without: 2.7 and 1.5 ms "
    "(fit), 2.6 and 0.9 ms (a loop), nearly all of it outside of the compiled step",
    TWO_BUSY_CORES,
    4,
)
STRATEGY_SAVED_MIN = Threshold(
    0.4, "share", "minimum share saved, of what such a step spends outside of its compiled part", _STRATEGY
)
STRATEGY_SAVED_MAX = Threshold(
    0.8, "share", "maximum share saved, of what such a step spends outside of its compiled part", _STRATEGY
)
STRATEGY_MIN_SHARE = Threshold(
    0.05,
    "share",
    "minimum share of the step that is saved without the strategy, for more than a remark",
    Chosen("repeated runs show as much"),
)

#: As TensorFlow's own gauge names them. Strategies of several workers have replicas elsewhere.
_OF_ONE_MACHINE = {
    "MirroredStrategy": ("tensorflow.distribute.MirroredStrategy",),
    "CentralStorageStrategy": ("tensorflow.distribute.experimental.CentralStorageStrategy",),
    "OneDeviceStrategy": ("tensorflow.distribute.OneDeviceStrategy",),
}
#: Parts with a strategy's own work: its iterator, its Python, its operations outside of the compiled step.
_PAID: tuple[PartName, ...] = ("input", "dispatch", "eager_ops", "host_sync")


def one_device(evidence: Evidence) -> Iterator[Finding]:
    """Report a strategy on one device: most of a step's time outside of its compiled function is the strategy's."""
    unit = evidence.unit
    kind, account, device = str(evidence.settings.get("strategy", "")), evidence.account, _only_device(evidence)
    if evidence.work is not None or kind not in _OF_ONE_MACHINE or account is None or not account.mean_ms or not device:
        return
    beside = sum(evidence.part(name) for name in _PAID)
    share = min(beside / account.mean_ms, shared.MAX_STEP_SHARE.value)
    gained = price(Setting("strategy"), Part(STRATEGY_SAVED_MIN.value * share, STRATEGY_SAVED_MAX.value * share))
    worth = gained.surely >= STRATEGY_MIN_SHARE.value
    yield Finding(
        code="DST004",
        remedy=Setting("strategy", ""),
        title=f"{kind} trains on a single device: {device}",
        severity="low" if worth else "info",
        share_of_step=share if worth else 0.0,
        gain=gained if worth else Unknown(),
        where=tuple(evidence.calls(*_OF_ONE_MACHINE[kind]))[: shared.MAX_PLACES.value],
        evidence=(
            Measurement("devices of the strategy", 1.0, "count", "run"),
            Measurement("time outside compiled functions: input, Python, eager ops", beside, "ms", "breakdown"),
            Measurement(f"share of {unit.the} outside compiled functions", share, "share", "breakdown"),
        ),
        advice=(
            "Use the strategy only if there are several devices: strategy = tf.distribute.MirroredStrategy() if "
            "len(tf.config.list_logical_devices('GPU')) > 1 else tf.distribute.get_strategy(). The default strategy "
            "has the same methods."
        ),
        detail=(
            "Each batch goes through the strategy's own iterator and threads, and each call and result is wrapped for "
            "a single replica."
        ),
        absorbs=("INP001",) if worth else (),
        parts=_PAID if worth else (),
    )


def _only_device(evidence: Evidence) -> str:
    """The one accelerator, or the one processor device where there is none; empty where there are more, or where the
    run did not come to its end and nothing is known."""
    names = [str(name) for name in evidence.run.machine.get("devices") or ()]
    accelerators = [name for name in names if "GPU" in name or "TPU" in name]
    found = accelerators or names
    return found[0].removeprefix("/device:") if len(found) == 1 else ""
