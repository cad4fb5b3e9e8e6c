"""DST006: one parameter server holds most of the variables.

The devices of the variables are read from the coordinator's largest compiled function. The cost depends on the network,
which is not measured, so this is a note.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import OpsData

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Evidence
from tfperfkit_rules.distribution.exchange import size
from tfperfkit_rules.distribution.small_exchanges import SMALL_EXCHANGE
from tfperfkit_rules.measures import shared

TITLES = {"DST006": "ParameterServerStrategy puts most variables on one server"}

UNEVEN_SERVERS = Threshold(
    1.5,
    "ratio",
    "minimum ratio of the bytes on the fullest parameter server to the mean",
    Chosen("with two servers one holds three quarters; variables of ordinary sizes are placed more evenly"),
)

_STRATEGIES = (
    "tensorflow.distribute.ParameterServerStrategy",
    "tensorflow.distribute.experimental.ParameterServerStrategy",
)


def uneven_servers(evidence: Evidence) -> Iterator[Finding]:
    """By where the variables of the largest function of the coordinator are placed.

    The cost depends on the network and on the servers' other work, which nobody measured: a note.
    """
    data = evidence.offer(OpsData)
    devices = [str(name) for name in evidence.run.machine.get("devices") or ()]
    servers = {_task(name) for name in devices if "job:ps/" in name}
    if data is None or evidence.work is not None or len(servers) < 2:
        return
    held = max((each.server_bytes for each in data.all), key=lambda each: sum(each.values()), default={})
    by_task = {task: float(sum(taken for name, taken in held.items() if _task(name) == task)) for task in servers}
    total = sum(by_task.values())
    if not total:
        return
    largest = max(sorted(by_task), key=lambda task: by_task[task])
    mean = total / len(servers)
    if by_task[largest] < UNEVEN_SERVERS.value * mean or by_task[largest] < SMALL_EXCHANGE.value:
        return
    yield Finding(
        code="DST006",
        title=f"ParameterServerStrategy puts most variables on one server: {size(by_task[largest])} of {size(total)} "
        f"on {largest}",
        severity="info",
        share_of_step=0.0,
        where=tuple(evidence.calls(*_STRATEGIES))[: shared.MAX_PLACES.value],
        evidence=(
            Measurement("parameter servers", float(len(servers)), "count", "run"),
            Measurement("variables on the fullest server", by_task[largest], "bytes", "run"),
            Measurement("mean variables per server", mean, "bytes", "run"),
        ),
        advice=(
            "Split large variables: variable_partitioner=tf.distribute.experimental.partitioners."
            f"MinSizePartitioner(max_shards={len(servers)}) for the strategy."
        ),
        detail=(
            "An unsplit variable lies on one server, and servers are chosen in turn, whatever a variable's size. All "
            "workers read and update the largest variable there."
        ),
    )


def _task(device: str) -> str:
    """``ps:1``"""
    _, _, rest = device.partition("job:ps/")
    return f"ps:{rest.partition('task:')[2].partition('/')[0]}"
