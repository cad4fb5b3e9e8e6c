"""EAG011, elements and rows of a tensor that Python takes one by one, and where they are only operations to compile."""

from __future__ import annotations

from evidence_builder import FILE, one
from tfperfkit_rules.eager import elements
from work_builder import everything, frame, handed, sampled, work_evidence

from tfperfkit.model import Finding, SourceSpan

MATH = "tensorflow.python.ops.math_ops:reduce_sum"
SLICE = "tensorflow.python.ops.tensor_getitem_override:_slice_helper"
LAYER = "keras.src.layers.layer:__call__"
ROWS = "tensorflow.python.framework.tensor:__next__"
ELEMENTS = "import tensorflow as tf\nfor i in range(t.shape[0]):\n    total += float(t[i, 0])\n"


def test_elements_that_are_read_one_by_one_are_no_operations_to_compile() -> None:
    taken = [
        sampled(70, "eager_ops", frame(3, SLICE, span=(19, 26))),
        sampled(30, "host_sync", frame(3, "tensorflow.python.framework.ops:__float__", span=(13, 27))),
    ]
    found = one(everything(work_evidence(ELEMENTS, taken, loop=2)))
    assert (found.code, found.where) == ("EAG011", (SourceSpan(FILE, 3), SourceSpan(FILE, 2)))
    assert found.title == "Python reads elements t[i, 0] one at a time" and "t.numpy()" in found.advice
    freed = one(everything(work_evidence(ELEMENTS, [*taken, sampled(25, "python", frame(3))], loop=2)))
    assert freed.share_of_step == 1.0  # their tensors are freed at the same line


def test_a_loop_through_a_tensor_takes_columns_of_another_one_by_one() -> None:
    source = "import tensorflow as tf\nfor i, w in enumerate(weights):\n    total += w * maps[:, i]\n"
    goes = sampled(40, "eager_ops", frame(2, ROWS, span=(12, 30)))
    column = sampled(60, "eager_ops", frame(3, SLICE, span=(17, 27)))
    found = one(everything(work_evidence(source, [goes, column], loop=2)))
    assert (found.code, found.share_of_step) == ("EAG011", 1.0)
    assert found.title == "Python reads elements maps[:, i] one at a time"
    chunk = source.replace("maps[:, i]", "maps[:, k]")  # no column of the loop: eager operations as any
    assert "EAG011" not in {item.code for item in everything(work_evidence(chunk, [goes, column], loop=2))}


def test_an_element_that_is_assigned_to_is_not_read() -> None:
    source = "import tensorflow as tf\nfor i in range(9):\n    if float(k[i]) > 0:\n        v[i].assign(d[i])\n"
    stacks = [
        sampled(20, "eager_ops", frame(4, SLICE, span=(8, 12))),
        sampled(60, "eager_ops", frame(4, SLICE, span=(20, 24))),
        sampled(20, "host_sync", frame(3, "tensorflow.python.framework.ops:__float__", span=(7, 18))),
    ]
    finding = one(elements.elements_one_by_one(work_evidence(source, stacks, loop=2)))
    assert finding.title == "Python reads elements d[i] one at a time" and "v.numpy()" not in finding.advice


def test_a_map_that_traces_in_each_call_is_named_and_the_function_around_it() -> None:
    called = "tensorflow.python.ops.parallel_for.control_flow_ops:vectorized_map"
    source = "import tensorflow as tf\ndef change(rows):\n    return tf.vectorized_map(f, rows)\n"
    source += "for x in xs:\n    change(x)\n"
    way = frame(5), frame(3, called, name="change", span=(11, 36))
    stacks = [sampled(60, "tracing", *way), sampled(40, "graph", *way)]
    found = one(elements.maps_called_eagerly(work_evidence(source, stacks, loop=4)))
    assert found.title == "tf.vectorized_map called eagerly traces its function in each call"
    assert found.advice.startswith("Put @tf.function on change (line 2), which calls tf.vectorized_map. Outside")
    assert "RET014" in found.absorbs_here and found.where[0] == SourceSpan(FILE, 3, "change")
    source = "import tensorflow as tf\nfor x in xs:\n    y = tf.scan(f, x)\n"
    way = (frame(3, "tensorflow.python.ops.functional_ops:scan_v2", span=(8, 21)),)
    found = one(elements.maps_called_eagerly(work_evidence(source, [sampled(60, "eager_ops", *way)], loop=2)))
    assert found.advice.startswith("Move the call of tf.scan into a function with @tf.function. Its iterations")


def test_a_value_that_is_waited_for_is_no_element() -> None:
    source = "for batch in batches:\n    loss = step(batch)\n    loss.numpy()\n"
    stacks = [sampled(100, "host_sync", frame(3, "tensorflow.python.framework.ops:numpy", span=(4, 16)))]
    assert list(elements.elements_one_by_one(work_evidence(source, stacks, loop=1))) == []


def test_a_call_that_goes_through_a_tensor_is_no_loop_over_its_rows() -> None:
    source = "import keras\nfor x, y in batches:\n    z = e(x)\n    p = d(z)\n    found.extend(p)\n"
    called = [
        sampled(50, "eager_ops", frame(3, LAYER, span=(8, 12))),
        sampled(30, "eager_ops", frame(4, LAYER, span=(8, 12))),
        handed(frame(3, LAYER, span=(8, 12))),
    ]
    goes = frame(5, ROWS, span=(4, 19))
    evidence = work_evidence(source, [*called, sampled(2, "eager_ops", goes)], loop=2)
    found = one(everything(evidence))
    assert found.code == "EAG004" and found.where[0] == SourceSpan(FILE, 3)
    assert found.title == "e and d called eagerly in the loop at train.py:2"
    assert "Call e and d in one @tf.function" in found.advice
    rows = work_evidence(source, [*called[:1], sampled(50, "eager_ops", goes)], loop=2)
    found = one(elements.elements_one_by_one(rows))
    assert found.title == "Python reads rows of p one at a time, in found.extend"
    assert found.share_of_step == 0.5 and "values = p.numpy()" in found.advice


def test_a_loop_over_a_tensor_goes_through_its_rows() -> None:
    source = "import tensorflow as tf\nfor row in rows:\n    a += row * 2\n"
    stacks = [
        sampled(50, "eager_ops", frame(2, ROWS, span=(11, 15))),
        sampled(50, "eager_ops", frame(3, MATH, span=(4, 16))),
    ]
    found = one(elements.elements_one_by_one(work_evidence(source, stacks, loop=2)))
    assert found.title == "Python reads rows of rows one at a time"
    assert found.share_of_step == 1.0


def test_slices_and_elements_that_stay_tensors_are_operations() -> None:
    sliced = ELEMENTS.replace("float(t[i, 0])", "tf.sum(t[i:i+9])")
    taken = frame(3, SLICE, span=(20, 28))
    stacks = [sampled(90, "eager_ops", taken), handed(taken)]
    assert one(everything(work_evidence(sliced, stacks, loop=2))).code == "EAG008"
    kept = ELEMENTS.replace("float(t[i, 0])", "tf.sum(t[i, 0])")
    assert one(everything(work_evidence(kept, stacks, loop=2))).code == "EAG008"


def test_a_loop_over_a_tensor_is_reported_by_what_it_goes_over() -> None:
    source = "import tensorflow as tf\nfor row in t:\n    total += tf.reduce_sum(row)\n"

    def found(going: int) -> Finding:
        stacks = [
            sampled(going, "eager_ops", frame(2, ROWS, span=(11, 12))),
            sampled(90 - going, "eager_ops", frame(3, MATH, span=(13, 31))),
            sampled(10, "dispatch", frame(3, MATH, span=(13, 31))),
        ]
        return one(everything(work_evidence(source, stacks, loop=2)))

    assert found(60).title == "Python reads rows of t one at a time"
    assert found(30).code == "EAG008"  # what is done with the rows takes the time
    source = source.replace("row in t", "row, u in zip(t, v)")
    assert found(60).title == "Python reads rows of t and v one at a time"
    assert ": t, v = t.numpy(), v.numpy()." in found(60).advice


def test_a_function_is_compiled_with_its_loops_over_tensors() -> None:
    source = (
        "import tensorflow as tf\ndef path(x):\n    for t in tf.range(9):\n        a = f(a, x[t])\n"
        "    for t in tf.range(9):\n        b = g(t)\nfor x in nights:\n    path(x)\n"
    )
    call = frame(8)

    def found(operations: int) -> list[Finding]:
        stacks = [
            sampled(operations, "eager_ops", call, frame(4, MATH, name="path", span=(12, 22))),
            sampled(90 - operations, "eager_ops", call, frame(5, ROWS, name="path", span=(13, 24))),
            sampled(10, "dispatch", call, frame(4, MATH, name="path", span=(12, 22))),
        ]
        return everything(work_evidence(source, stacks, loop=7))

    (whole,) = [item for item in found(70) if item.code == "EAG008"]
    assert whole.share_of_step == 1.0 and "EAG011" in whole.absorbs
    assert "EAG011" in {item.code for item in found(30)}


def test_where_one_call_goes_through_a_tensor_no_loop_is_spoken_of() -> None:
    source = "import tensorflow as tf\nscores = tf.exp(logits)\nfound = sorted(scores)\n"
    stacks = [sampled(60, "eager_ops", frame(3, ROWS, span=(8, 22))), sampled(40, "python", frame(2))]
    (found,) = elements.elements_one_by_one(work_evidence(source, stacks, call=3))
    assert found.title == "Python reads rows of scores one at a time, in sorted"
    assert "values = scores.numpy()" in found.advice and "loop" not in found.advice
