"""Asks TensorFlow's profiler services for a trace, in a process of its own, for it imports TensorFlow.

python -m tfperfkit.instruments.trace_client ADDRESSES LOGDIR MILLISECONDS

``ADDRESSES``: ``host:port`` with commas. The services write the traces, below LOGDIR, which they must reach.
"""

from __future__ import annotations

import sys


def main(addresses: str, logdir: str, milliseconds: str) -> None:
    from tensorflow.python.profiler import profiler_client

    service = ",".join(f"grpc://{address}" for address in addresses.split(","))
    try:
        profiler_client.trace(service, logdir, int(milliseconds))
    except Exception as error:
        raise SystemExit(" ".join(str(error).split())[:300]) from None


if __name__ == "__main__":
    main(*sys.argv[1:])
