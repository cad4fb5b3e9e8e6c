"""Patches of functions and calls: tf.function, tensors, compile, predict, switches, collections."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing_builder import FILE, at, finding_at, fixed, patch_of, reason

from tfperfkit.offers import VaryingArgument, VaryingArguments
from tfperfkit.remedy import Compile, Setting

STEP = """\
import tensorflow as tf


# The step.
def train_step(x, y):  # here
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x))
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss
"""


METHOD = """\
import tensorflow as T


class A:
    @T.function
    def step(self, x, rate):  # here
        return self.net(x)


"""


def test_the_step_is_compiled(tmp_path: Path) -> None:
    after = fixed(tmp_path, STEP, "EAG001", function="train_step")
    assert after == STEP.replace("def train_step", "@tf.function\ndef train_step")


def test_a_method_is_compiled_below_its_decorators(tmp_path: Path) -> None:
    source = METHOD.replace("T.function", "traced  # why")
    after = fixed(tmp_path, source, "EAG001", function="A.step")
    assert after == source.replace("    def step", "    @T.function\n    def step")


@pytest.mark.parametrize(
    "line, said",
    [
        ("v = loss.numpy()", ".numpy()"),
        ("print(loss)", "print()"),
        ("losses.append(loss)", "changes losses"),
        ("z = np.random.rand(3)", "numpy.random.rand"),
        ("count.n += 1", "outside of the function"),
        ("global n", "outside of the function"),
        ("v = tf.Variable(1.0)", "Variable"),
        ("yield loss", "generator"),
        ("helper(loss)", "in helper"),
    ],
)
def test_what_changes_its_meaning_in_a_trace_is_not_compiled(tmp_path: Path, line: str, said: str) -> None:
    source = STEP.replace("    return loss", f"    {line}\n    return loss").replace(
        "import t", "import numpy as np\nimport t", 1
    )
    source += "\n\ndef helper(loss):\n    return float(loss)\n"
    assert said in reason(tmp_path, source, "EAG001", function="train_step")


def test_lists_of_its_own_are_no_obstacle(tmp_path: Path) -> None:
    source = STEP.replace("    return loss", "    seen = []\n    seen.append(loss)\n    return loss")
    assert "@tf.function" in fixed(tmp_path, source, "EAG001", function="train_step")


REFINE = """\
import tensorflow as tf


def refine(matrix, vector):  # here
    product = tf.linalg.matvec(matrix, vector)
    return product / tf.norm(product)


for turn in range(2000):
    vector = refine(matrix, vector)
"""


def test_a_function_of_a_loop_without_training_is_compiled(tmp_path: Path) -> None:
    after = fixed(tmp_path, REFINE, "EAG008", function="refine")
    assert after == REFINE.replace("def refine", "@tf.function\ndef refine")


@pytest.mark.parametrize(
    "call, given",
    [
        ("refine(matrix, turn)", "turn"),
        ("refine(matrix, 0.9**turn)", "turn"),
        ("refine(matrix, float(vector))", "float(...)"),
        ("refine(matrix, done); done += 1", "done"),
        ("refine(matrix, t); u, t = vector, t + h; t, h = 0.0, 0.1", "t"),
        ("refine(matrix, -t); t = -1.5; t = min(1.5 * t, 2.0)", "t"),
    ],
)
def test_a_function_that_is_given_numbers_stays(tmp_path: Path, call: str, given: str) -> None:
    """Each value would be a trace."""
    said = reason(tmp_path, REFINE.replace("refine(matrix, vector)\n", f"{call}\n"), "EAG008", function="refine")
    assert f"line 10 gives it {given}" in said


def test_a_number_that_stays_is_one_trace(tmp_path: Path) -> None:
    source = REFINE.replace("refine(matrix, vector)\n", "refine(matrix, h)\n").replace("for turn", "h = 0.1\nfor turn")
    assert "@tf.function" in fixed(tmp_path, source, "EAG008", function="refine")


@pytest.mark.parametrize("loop", ["for _ in range(9):", "for row in [a, b]:", "while product > 0:"])
def test_a_function_whose_loop_a_trace_unrolls_stays(tmp_path: Path, loop: str) -> None:
    source = REFINE.replace("    return product", f"    {loop}\n        product = product / 2\n    return product")
    assert "loop in line 6 may be traced iteration by iteration" in reason(
        tmp_path, source, "EAG008", function="refine"
    )
    turns = REFINE.replace("    return", "    for row in matrix:\n        product = product + row\n    return")
    assert "@tf.function" in fixed(tmp_path, turns, "EAG008", function="refine")


def test_operations_of_no_function_stay(tmp_path: Path) -> None:
    source = REFINE.replace("  # here", "").replace("    vector = refine", "    vector = refine", 1)
    assert "not in a function of their own" in reason(tmp_path, source.replace("2000):", "2000):  # here"), "EAG008")


def test_async_and_compiled_functions_stay(tmp_path: Path) -> None:
    source = STEP.replace("def train_step", "async def train_step")
    assert "async" in reason(tmp_path, source, "EAG001", function="train_step")
    source = STEP.replace("def train_step", "@tf.function(jit_compile=True)\ndef train_step")
    assert "already" in reason(tmp_path, source, "EAG001", function="train_step")
    assert "no function" in reason(tmp_path, "for x in data:  # here\n    pass\n", "EAG001", function="<module>")


@pytest.mark.parametrize(
    "before, after",
    [
        ("@tf.function", "@tf.function(reduce_retracing=True)"),
        ("@tf.function()", "@tf.function(reduce_retracing=True)"),
        ("@tf.function(autograph=False)", "@tf.function(autograph=False, reduce_retracing=True)"),
    ],
)
def test_sizes_are_left_open(tmp_path: Path, before: str, after: str) -> None:
    source = f"import tensorflow as tf\n\n\n{before}  # here\ndef f(x):\n    return x\n"
    assert fixed(tmp_path, source, "RET003", function="f") == source.replace(before, after)


def test_a_function_that_is_made_by_a_call_is_relaxed(tmp_path: Path) -> None:
    source = "import tensorflow as tf\n\nstep = tf.function(plain)  # here\n"
    assert "tf.function(plain, reduce_retracing=True)  # here" in fixed(tmp_path, source, "RET002")


@pytest.mark.parametrize("given", ["input_signature=s", "reduce_retracing=False", "jit_compile=True"])
def test_sizes_that_were_chosen_stay(tmp_path: Path, given: str) -> None:
    source = f"import tensorflow as tf\n\n\n@tf.function({given})  # here\ndef f(x):\n    return x\n"
    assert reason(tmp_path, source, "RET003", function="f")


RATE = """\
import tensorflow as tf


@tf.function
def step(x, rate):  # here
    return x * rate


for n in range(9):
    step(x, 0.1 * 0.9**n)  # here
    step(x, rate=0.5)
"""


def varying(*values: str, line: int = 5, name: str = "rate") -> VaryingArguments:
    return VaryingArguments(arguments=(VaryingArgument(file=FILE, line=line, argument=name, values=values),))


def test_a_number_becomes_a_tensor_at_its_call(tmp_path: Path) -> None:
    after = fixed(tmp_path, RATE, "RET001", varying("0.1", "0.09"), function="")
    assert after == RATE.replace("0.1 * 0.9**n", "tf.constant(0.1 * 0.9**n, tf.float32)")
    source = RATE.replace("step(x, 0.1 * 0.9**n)", "step(x, rate=schedule(n))")
    assert "rate=tf.constant(schedule(n), tf.float32)" in fixed(tmp_path, source, "RET001", varying("0", "0.5"))


def test_of_a_method_self_is_not_counted(tmp_path: Path) -> None:
    source = METHOD + "a.step(x, r)  # here\n"
    assert "a.step(x, T.constant(r, T.float32))" in fixed(tmp_path, source, "RET001", varying("1.5", "2.5", line=6))


@pytest.mark.parametrize(
    "values, said", [(("1", "2"), "int32"), (("'a'", "'b'"), "no number"), (("True", "False"), "no number")]
)
def test_other_values_stay(tmp_path: Path, values: tuple[str, ...], said: str) -> None:
    assert said in reason(tmp_path, RATE, "RET001", varying(*values))


@pytest.mark.parametrize(
    "base, is_tensor", [("[tf.ones(2), tf.ones(3)]", False), ("np.ones(3)", False), ("tf.ones(3)", True)]
)
def test_a_tensor_selects_from_tensors_alone(tmp_path: Path, base: str, is_tensor: bool) -> None:
    """Keep a list, which takes no tensor as its index."""
    source = RATE.replace("return x * rate", "return x * parts[rate]").replace("@tf", f"parts = {base}\n@tf", 1)
    assert source.count("parts") == 2
    finding = finding_at("RET001", *((line, "") for line in at(source)))
    _, after = patch_of(tmp_path, source, finding, varying("1", "2", line=6))
    assert (after != source) is is_tensor


def test_without_the_probe_or_in_float64_there_is_no_tensor(tmp_path: Path) -> None:
    assert "not known" in reason(tmp_path, RATE, "RET001")
    source = RATE.replace("return x *", "return tf.cast(x, tf.float64) *")
    assert "float64" in reason(tmp_path, source, "RET001", varying("0.1", "0.2"))


def test_as_many_steps_are_joined_as_the_remedy_says(tmp_path: Path) -> None:
    source = 'model.compile("adam")\nmodel.fit(x, y)\n'
    _, after = patch_of(tmp_path, source, finding_at("STP002", (2, ""), remedy=Setting("steps_per_execution", 50)))
    assert after == source.replace('"adam"', '"adam", steps_per_execution=50')


def test_steps_are_joined_in_compile(tmp_path: Path) -> None:
    source = 'a.compile("adam")\nb.compile(\n    "sgd",  # plain\n    loss=loss,\n)\nb.fit(x, y)  # here\n'
    after = fixed(tmp_path, source, "STP009")
    assert after == source.replace("    loss=loss,\n", "    loss=loss,\n    steps_per_execution=32,\n")
    assert "loop" in reason(tmp_path, "for x in data:\n    step(x)  # here\n", "STP009")
    source = 'import re\nre.compile("x")\nmodel.fit(x)  # here\n'
    assert reason(tmp_path, source, "STP009")


def test_switches_for_debugging_go(tmp_path: Path) -> None:
    source = "import tensorflow as tf\n\n# To see values.\ntf.config.run_functions_eagerly(True)  # here\nx = 1\n"
    assert fixed(tmp_path, source, "EAG003") == "import tensorflow as tf\n\n# To see values.\nx = 1\n"
    source = 'model.compile(\n    "adam",\n    run_eagerly=True,  # here\n    loss="mse",\n)\n'
    assert "run_eagerly" not in fixed(
        tmp_path, source.replace("  # here", "").replace("(\n", "(  # here\n", 1), "EAG003"
    )
    source = 'model.compile("adam", run_eagerly=True)  # here\n'
    assert fixed(tmp_path, source, "EAG003") == 'model.compile("adam")  # here\n'
    assert reason(tmp_path, 'model.compile("adam", run_eagerly=DEBUG)  # here\n', "EAG003")
    source = "import tensorflow as tf\nif debug:\n    tf.config.run_functions_eagerly(True)  # here\n"
    assert fixed(tmp_path, source, "EAG003") == "import tensorflow as tf\nif debug:\n    pass\n"


def test_float64_for_all_layers_goes(tmp_path: Path) -> None:
    source = 'from tensorflow import keras\n\nkeras.backend.set_floatx("float64")  # here\nx = 1\n'
    assert fixed(tmp_path, source, "OPS003") == "from tensorflow import keras\nx = 1\n"
    assert "no line" in reason(tmp_path, source.replace('"float64"', "floats"), "OPS003")


POLICY = """\
import tensorflow as tf
from tensorflow.keras import mixed_precision

# Half of the memory.
mixed_precision.set_global_policy("mixed_float16")  # here
"""


def test_half_precision_stays_for_a_gpu(tmp_path: Path) -> None:
    guarded = (
        'if tf.config.list_physical_devices("GPU"):\n    mixed_precision.set_global_policy("mixed_float16")  # here\n'
    )
    after = fixed(tmp_path, POLICY.replace("# Half of the memory.\n", ""), "PRC003")
    assert after.endswith(f"mixed_precision\n\n{guarded}")
    assert "# Half of the memory.\nif tf.config" in fixed(tmp_path, POLICY, "PRC003")
    assert "not imported" in reason(tmp_path, POLICY.replace("import tensorflow as tf\n", ""), "PRC003")


JACOBIAN = """\
import tensorflow as tf


def sensitivity(angles):
    with tf.GradientTape() as tape:
        tape.watch(angles)
        where = tip(angles)
    return tape.jacobian(where, angles)  # here
"""


IN_A_FUNCTION = Compile("jacobian")


def test_the_function_of_a_jacobian_is_compiled(tmp_path: Path) -> None:
    assert fixed(tmp_path, JACOBIAN, "RET014", remedy=IN_A_FUNCTION) == JACOBIAN.replace(
        "def sens", "@tf.function\ndef sens"
    )
    assert ".numpy()" in reason(
        tmp_path, JACOBIAN.replace("angles)  #", "angles).numpy()  #"), "RET014", remedy=IN_A_FUNCTION
    )
    assert "no jacobian" in reason(tmp_path, JACOBIAN.replace("jacobian", "gradient"), "RET014", remedy=IN_A_FUNCTION)


SAVING = """\
for step, (x, y) in enumerate(data):
    loss = train_step(x, y)
    # For tomorrow.
    manager.save(checkpoint_number=step)  # here
"""


def test_saving_becomes_rare(tmp_path: Path) -> None:
    after = fixed(tmp_path, SAVING, "STP001")  # half of the loop: every 100 turns it takes less than 5 %
    assert after.endswith(
        "    # For tomorrow.\n    if step % 100 == 0:\n        manager.save(checkpoint_number=step)  # here\n"
    )
    assert "counts its iterations" in reason(tmp_path, SAVING.replace("enumerate(data)", "data"), "STP001")
    assert "no line that only saves" in reason(tmp_path, SAVING.replace("    manager", "    path = manager"), "STP001")


def test_a_callback_saves_once_an_epoch(tmp_path: Path) -> None:
    source = "import keras\n\nkept = keras.callbacks.BackupAndRestore(folder, save_freq=3)  # here\n"
    assert '(folder, save_freq="epoch")' in fixed(tmp_path, source, "STP001")


@pytest.mark.parametrize(
    "call, after",
    [
        ('np.savetxt(name + ".txt", u.numpy())', 'np.save(name + ".npy", u.numpy())'),
        ('np.savetxt("frame_%d.csv" % n, u)', 'np.save("frame_%d.npy" % n, u)'),
        ('np.savetxt(f"frame_{n}.dat", u)', 'np.save(f"frame_{n}.npy", u)'),
        ("np.savetxt(path, u)", "np.save(path, u)"),
    ],
)
def test_arrays_are_written_as_bytes(tmp_path: Path, call: str, after: str) -> None:
    assert f"{after}  # here" in fixed(tmp_path, f"import numpy as np\n{call}  # here\n", "STP001")
    told = call[:-1] + ', fmt="%d")'
    assert "options for the format of the text" in reason(tmp_path, f"import numpy as np\n{told}  # here\n", "STP001")


@pytest.mark.parametrize("imports, call", [("import gc", "gc.collect()"), ("from gc import collect as tidy", "tidy()")])
def test_collections_go(tmp_path: Path, imports: str, call: str) -> None:
    source = f"{imports}\n\nfor x in data:\n    step(x)\n    # Frees memory.\n    {call}  # here\nprint(1)\n"
    after = fixed(tmp_path, source, "STP005")
    assert after == source.replace(f"    {call}  # here\n", "")
    assert reason(tmp_path, f"{imports}\n\nfor x in data:\n    n = {call}  # here\n", "STP005")


PREDICT = """\
import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential

net = Sequential([])  # small
while True:
    action = np.argmax(net.predict(state[None], verbose=0)[0])  # here
"""


def test_predict_becomes_a_compiled_call(tmp_path: Path) -> None:
    after = fixed(tmp_path, PREDICT, "EAG004")
    wanted = PREDICT.replace("# small\n", "# small\nnet_call = tf.function(net, reduce_retracing=True)\n")
    wanted = wanted.replace(
        "net.predict(state[None], verbose=0)", "net_call(tf.convert_to_tensor(state[None])).numpy()"
    )
    assert after == wanted


@pytest.mark.parametrize(
    "before, after",
    [
        ("Sequential([])", "load()"),
        ("verbose=0", "batch_size=1"),
        ("state[None], verbose=0", "[a, b]"),
        ("net.predict", "self.net.predict"),
        ("while True:", "if True:"),
        ("while True:", "net = Sequential([])\nwhile True:"),
        ("import numpy", "net_call = 1\nimport numpy"),
    ],
)
def test_predict_stays_where_a_call_may_do_something_else(tmp_path: Path, before: str, after: str) -> None:
    assert reason(tmp_path, PREDICT.replace(before, after), "EAG004")
