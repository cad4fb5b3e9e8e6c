"""The cells of the notebook that ``test_notebook.py`` runs in a kernel."""

CELLS = (
    "import tensorflow as tf, tfperfkit\n%load_ext tfperfkit",
    # Cell 2: a step that is traced again, from a line that the report has to name.
    "w = tf.Variable(tf.ones([64, 64]))\n"
    "optimizer = tf.keras.optimizers.SGD(1e-4)\n"
    "optimizer.build([w])\n"
    "@tf.function\n"
    "def step(scale):\n"
    "    with tf.GradientTape() as tape:\n"
    "        loss = tf.reduce_sum(tf.matmul(w, w)) * scale\n"
    "    optimizer.apply_gradients([(tape.gradient(loss, w), w)])\n"
    "def train(count):\n"
    "    for number in range(count):\n"
    "        step(number // 5)\n"
    "def total():\n"
    "    return tf.reduce_sum(w)\n",
    "with tfperfkit.watch() as run:\n    train(80)",
    "run",
    "print(repr(run)); print(repr(run.report)); print([finding.code for finding in run.findings])",
    "%%tfperf --steps 20\ntrain(60)\n'the last value'",
    "%tfperf train(40)",
    "%%tfperf --nonsense\ntrain(5)",
    "%%tfperf\nfor number in range(100, 130):\n    step(number)\nraise ValueError('mine')",
    "print(tfperf_run.report.run.status)",
    "run.save_html('report.html')\ntry:\n    run.to_frame()\nexcept ImportError as error:\n    print(error)",
    "%%tfperf --steps-from total --probes none\nfor _ in range(12):\n    total()",
)
