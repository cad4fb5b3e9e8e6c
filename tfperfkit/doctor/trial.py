"""Facts from TensorFlow itself, and a real capture of two steps: ``python trial.py FOLDER``.

Started by ``runtime.py`` as a file of its own process, because importing TensorFlow can end a process. Each thing
found is a JSON line on stdout at once, so what was found before an end by a signal is kept.
"""

import json
import os
import sys
import time


def main(folder: str) -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(**found: object) -> None:
        print(json.dumps(found), file=answer, flush=True)

    import tensorflow as tf

    say(version=tf.__version__, numpy=sys.modules["numpy"].__version__)
    try:
        import keras

        say(keras=keras.__version__, keras_backend=getattr(keras, "backend", None) and keras.backend.backend())
    except Exception as error:
        say(keras_error=f"{type(error).__name__}: {error}")
    build = dict(tf.sysconfig.get_build_info())
    say(
        cuda_build=bool(build.get("is_cuda_build")),
        rocm_build=bool(build.get("is_rocm_build")),
        cuda=str(build.get("cuda_version", "")),
        cudnn=str(build.get("cudnn_version", "")),
    )
    say(gpus=[device.name for device in tf.config.list_physical_devices("GPU")])
    say(capture=capture(tf, folder))
    say(costs=measure_costs(tf))


def measure_costs(tf) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Return the costs of TensorFlow's own work on the CPU, in ms, each the least of several: other programs only ever
    add to it.

    ``dispatch_ms``: an eager operation. ``call_ms``: a call of a compiled function. ``fetch_ms``: reading a result.
    ``graph_op_ms``: an operation in a graph. ``trace_op_ms``: tracing one. A difference that a busy machine makes
    negative is left out.
    """
    with tf.device("CPU:0"):
        small, one, many = tf.zeros([4]), _chain(tf, 1), _chain(tf, _OPERATIONS)
        operations = len(many.get_concrete_function(small).graph.get_operations())
        call_ms = _least_ms(lambda: one(small))
        tracing_ms = _least_ms(lambda: _chain(tf, _OPERATIONS).get_concrete_function(small), 3)
        costs = {
            "dispatch_ms": _least_ms(lambda: tf.add(small, small)),
            "call_ms": call_ms,
            "fetch_ms": _least_ms(small.numpy),
            "graph_op_ms": (_least_ms(lambda: many(small)) - call_ms) / _OPERATIONS,
            "trace_op_ms": tracing_ms / operations,
        }
        return {name: ms for name, ms in costs.items() if ms > 0}


#: Operations of the graph that is traced and run.
_OPERATIONS = 200


def _chain(tf, count: int):  # type: ignore[no-untyped-def]
    """Return a compiled function of so many operations, one after the other."""

    @tf.function(autograph=False)
    def chain(x):  # type: ignore[no-untyped-def]
        for _ in range(count):
            x = tf.sin(x)
        return x

    return chain


def _least_ms(work, times: int = 50) -> float:  # type: ignore[no-untyped-def]
    work()
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        took.append(time.perf_counter() - begun)
    return 1000 * min(took)


def capture(tf, folder: str) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """Two marked steps under the profiler; the size of what it wrote."""
    step = tf.function(lambda x: tf.reduce_sum(tf.matmul(x, x)))
    step(tf.ones([64, 64]))
    tf.profiler.experimental.start(folder)
    for number in range(2):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(tf.ones([64, 64])).numpy()
    tf.profiler.experimental.stop()
    for parent, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".xplane.pb"):
                return {"bytes": os.path.getsize(os.path.join(parent, name))}
    return {"bytes": 0}


if __name__ == "__main__":
    main(sys.argv[1])
