"""The made reports that the other tests of the report draw, and that they are what their words say."""

from __future__ import annotations

import msgspec

from tfperfkit.gain import Range
from tfperfkit.model import (
    REPORT_SCHEMA,
    Column,
    Finding,
    LineTime,
    Measurement,
    Outlier,
    Overhead,
    ProbeOutcome,
    Report,
    RunAccount,
    RunInfo,
    SourceSpan,
    StepAccount,
    StepSummary,
    Table,
    WarmUp,
    WindowSummary,
)

LINE_COLUMNS = (
    Column("Line", "number"),
    Column("Hits", "count"),
    Column("Time", "ms"),
    Column("Per hit", "ms"),
    Column("Share", "share"),
    Column("Source", "source"),
)

Row = tuple[int, int | None, float | None, str]

MAIN: tuple[Row, ...] = (
    (433, None, None, "def train_GAN(_batch_size, _training_iterations, global_size):"),
    (434, None, None, ""),
    (438, 1, 975.53, "    generator = Generator()"),
    (439, None, None, ""),
    (440, 1, 0.078, "    random_input = numpy.random.uniform(-1,1,[1,100]).astype(numpy.float32)"),
    (441, 1, 1819.987, "    generated_image = generator(random_input)"),
    (444, 1, 17.879, "    discriminator = Discriminator()"),
    (445, 1, 29.422, "    classification  = discriminator(generated_image)"),
    (447, 1, 0.003, "    models = {"),
    (448, 1, 0.001, '        "generator" : generator,'),
    (449, 1, 0.0, '        "discriminator" : discriminator'),
    (450, None, None, "    }"),
    (459, 1, 0.0, "    if global_size != 1:"),
    (460, None, None, "        hvd.broadcast_variables(generator.variables, root_rank=0)"),
    (463, None, None, "        hvd.broadcast_variables(opts['discriminator'].variables(), root_rank=0)"),
    (465, 1, 12505.979, "    train_loop(_batch_size, _training_iterations, models, opts, global_size)"),
    (468, None, None, "    # Save the model:"),
    (469, 1, 74.74, '    generator.save_weights("trained_GAN.h5")'),
)

LOOP: tuple[Row, ...] = (
    (391, None, None, "@profile"),
    (392, None, None, "def train_loop(batch_size, n_training_iterations, models, opts, global_size):"),
    (397, 21, 0.022, "    for i in range(n_training_iterations):"),
    (401, 60, 0.064, '        for network in ["generator", "discriminator"]:'),
    (403, 40, 0.975, "            with tf.GradientTape() as tape:"),
    (404, 80, 11374.986, "                    loss, metrics, images = forward_pass("),
    (405, 40, 0.035, '                        models["generator"],'),
    (409, None, None, "                    )"),
    (419, 40, 8.287, "            trainable_vars = models[network].trainable_variables"),
    (421, None, None, "            # Apply the update to the network (one at a time):"),
    (422, 40, 840.75, "            grads = tape.gradient(loss[network], trainable_vars)"),
    (424, 40, 267.638, "            opts[network].apply_gradients(zip(grads, trainable_vars))"),
    (
        430,
        20,
        8.074,
        "        logger.info(f\"G Loss: {loss['generator']:.3f}, D Loss: {loss['discriminator']:.3f}, "
        'step_time: {end-start :.3f}, throughput: {images/(end-start):.3f} img/s.")',
    ),
)

FORWARD: tuple[Row, ...] = (
    (302, None, None, "def forward_pass(_generator, _discriminator, _batch_size, _input_size):"),
    (303, None, None, "    '''"),
    (304, None, None, "    This function takes the two models and runs a forward pass"),
    (305, None, None, "    '''"),
    (307, None, None, "    # Fetch real data:"),
    (308, 40, 10498.888, "    real_data = fetch_real_batch(_batch_size)"),
    (313, 40, 3.136, "    random_noise = numpy.random.uniform(-1, 1, size=_batch_size*_input_size).astype(float)"),
    (315, 40, 343.082, "    fake_images  = _generator(random_noise)"),
    (319, 40, 238.89, "    prediction_on_real_data = _discriminator(real_data)"),
    (321, 40, 211.699, "    prediction_on_fake_data = _discriminator(fake_images)"),
    (365, 80, 2.742, "    discriminator_accuracy = 0.5 * numpy.mean(predicted_real_label == real_labels) + \\"),
    (366, 40, 1.118, "        0.5 * numpy.mean(predicted_fake_label == fake_labels)"),
    (386, 40, 0.029, "    return loss, metrics, images"),
)

FETCH: tuple[Row, ...] = (
    (56, None, None, "def fetch_real_batch(_batch_size):"),
    (57, 40, 10431.2, "    x_train, x_test = get_dataset()"),
    (58, None, None, ""),
    (59, 40, 12.4, "    indexes = numpy.random.choice(a=x_train.shape[0], size=[_batch_size,])"),
    (61, 40, 55.3, "    images = x_train[indexes].reshape(_batch_size, 28, 28, 1)"),
    (63, 40, 0.02, "    return images"),
)


def line_table(function: str, line: int, rows: tuple[Row, ...]) -> Table:
    """Return a table as the lines probe makes it; rows above a tenth of the function's time are marked."""
    total = sum(ms or 0.0 for _, _, ms, _ in rows)
    cells = tuple(
        (number, hits, ms, None if ms is None or not hits else ms / hits, None if ms is None else ms / total, source)
        for number, hits, ms, source in rows
    )
    marked = tuple(index for index, row in enumerate(cells) if row[4] is not None and row[4] > 0.1)
    title = f"{function} (train.py:{line}) · {total:,.0f} ms in 20 steps"
    return Table(title=title, columns=LINE_COLUMNS, rows=cells, marked=marked)


LINES = ProbeOutcome(
    name="lines",
    status="ok",
    data={"python_functions": [{"function": "train_loop", "file": "train.py", "line": 391, "window_ms": 1536.0}]},
    summary="4 functions, followed line by line for 3 steps.",
    tables=(
        line_table("train_GAN", 433, MAIN),
        line_table("train_loop", 391, LOOP),
        line_table("forward_pass", 301, FORWARD),
        line_table("fetch_real_batch", 56, FETCH),
        Table(
            title="discriminator_step (train.py:188), inside its graph · 8.62 ms a step",
            columns=(
                Column("Line", "number"),
                Column("Forward", "ms"),
                Column("Backward", "ms"),
                Column("Update", "ms"),
                Column("Source", "source"),
            ),
            rows=(
                (190, 1.31, 2.62, None, "    real_logits = discriminator(real, training=True)"),
                (191, 1.29, 2.58, None, "    fake_logits = discriminator(fake, training=True)"),
                (193, 0.02, 0.04, None, "    loss = compute_loss(real_logits, fake_logits)"),
                (195, None, None, 0.76, "    optimizer.apply_gradients(zip(grads, variables))"),
            ),
            note="94.1 % of the graph's time could be matched to lines; 0.51 ms a step could not.",
            marked=(0, 1),
        ),
    ),
)

RETRACE = ProbeOutcome(
    name="retrace",
    status="ok",
    data={"functions": []},
    summary="1 function was traced more than once.",
    tables=(
        Table(
            title="Traces of train_step (train.py:41)",
            columns=(
                Column("Trace", "number"),
                Column("Step", "number"),
                Column("Time", "ms"),
                Column("Called from", "location"),
                Column("Difference to the closest trace"),
            ),
            rows=(
                (1, 1, 2210.4, "train.py:88", "first trace"),
                (2, 1, 640.2, "train.py:88", "context: replica device /job:localhost/replica:0/task:0/device:CPU:0"),
                (7, 312, 1840.0, "train.py:88", "x  f32[32,100] → f32[17,100]   dim 0: the last, partial batch"),
            ),
        ),
    ),
)

TFPROF = ProbeOutcome(
    name="tfprof",
    status="cut",
    reason="The trace holds 4 of 5 steps: the script ended before the window did.",
    data={"steps": 4, "trace_dir": "plugins/profile/x", "input_share": 0.004},
    summary="Graph ops took 8.62 ms a step.",
    tables=(
        Table(
            title="Costliest ops",
            columns=(
                Column("Op"),
                Column("Type"),
                Column("Count", "count"),
                Column("Self time", "us"),
                Column("Share", "share"),
                Column("Memory", "bytes"),
            ),
            rows=(
                (
                    "gradient_tape/discriminator/conv2d_1/Conv2D/Conv2DBackpropFilter",
                    "Conv2DBackpropFilter",
                    160,
                    9184.3,
                    0.266,
                    3_276_800,
                ),
                (
                    "gradient_tape/discriminator/conv2d_1/Conv2D/Conv2DBackpropInput",
                    "Conv2DBackpropInput",
                    160,
                    7210.9,
                    0.209,
                    3_276_800,
                ),
                ("generator/conv2d_transpose_2/conv2d_transpose", "Conv2DBackpropInput", 80, 5022.0, 0.146, 401_408),
                ("discriminator/conv2d/Conv2D", "_FusedConv2D", 1_280, 1210.44, 0.035, None),
                ("Adam/AssignAddVariableOp", "AssignAddVariableOp", 80, 8.1, 0.0002, 8),
            ),
            marked=(0, 1),
        ),
    ),
    notes=("The trace covers one process; children of the script are not in it.",),
)

DEVICES = ProbeOutcome(name="devices", status="skipped", reason="No GPU is visible to TensorFlow.")

HELLO = ProbeOutcome(
    name="hello",
    status="ok",
    data={"greeting": "hello"},
    tables=(
        Table(
            title="Greetings",
            columns=(Column("Greeting"), Column("Times", "count"), Column("Ratio", "ratio")),
            rows=(("hello, world", 3, 1.0), ("hello [bold]you[/bold] :smile:", 1, None)),
        ),
    ),
)

INPUT_FINDING = Finding(
    code="INP001",
    family="input",
    title="The data set is loaded again in every step",
    severity="high",
    share_of_step=0.979,
    gain=Range(10.9, 12.3, 13.4),
    where=(SourceSpan("train.py", 57, "fetch_real_batch"), SourceSpan("train.py", 308, "forward_pass")),
    evidence=(
        Measurement("get_dataset()", 501.2, "ms", "lines"),
        Measurement("of the step", 0.979, "share", "lines"),
        Measurement("loads a step", 2, "count", "lines"),
        Measurement("step", 512.4, "ms", "baseline"),
    ),
    advice="Load the data once, before the loop, and pick each batch from the arrays in memory.",
)

RETRACE_FINDING = Finding(
    code="RET002",
    family="retrace",
    title="train_step is traced again for a new shape of x",
    severity="medium",
    share_of_step=0.031,
    gain=Range(1.03, 1.03, 1.03),
    where=(SourceSpan("train.py", 41, "train_step"),),
    evidence=(Measurement("traces", 7, "count", "run"), Measurement("tracing", 12840.0, "ms", "run")),
    advice="Give the dataset drop_remainder=True, or train_step input_signature=[TensorSpec([None, 100])]: "
    "traces 7 → 1.",
    detail="RETRACE #7 of train_step (train.py:41) at step 312 · 1.84 s, worth 31 steps\n"
    "  called from main (train.py:88)\n"
    "  closest trace #3:  x  f32[32,100] → f32[17,100]   dim 0: the last, partial batch\n"
    "  pattern: 6 of 7 traces differ only in x[0] ∈ {32, 17, 9}",
)

EAGER_FINDING = Finding(
    code="EAG001",
    family="eager",
    title="The training step runs op by op, outside a tf.function",
    severity="info",
    share_of_step=0.0,
    where=(SourceSpan("train.py", 404, "train_loop"),),
    evidence=(Measurement("eager ops", 1_412, "per step", "eager"),),
    advice="Put @tf.function on the function that computes the loss and the gradients.",
)

NAIVE_GAN = Report(
    schema=REPORT_SCHEMA,
    run=RunInfo(
        argv=("train.py", "--steps", "40"),
        exit_code=0,
        status="finished",
        versions={"python": "3.11.9", "tensorflow": "2.16.2", "keras": "3.4.1"},
        machine={"cpus": 2},
        wall_s=27.31,
        directory="tfperf-runs/train-1121-1215",
    ),
    probes=(LINES, RETRACE, TFPROF, DEVICES, HELLO),
    steps=StepSummary(
        count=40,
        source="custom",
        warmup=2,
        clean=27,
        median_ms=512.4,
        mean_ms=515.0,
        p90_ms=540.2,
        examples_per_s=249.8,
        batch_size=128,
        breakdown_ms={"input": 501.2, "python": 4.1, "eager_ops": 0.0, "graph": 8.6, "tracing": 0.0, "other": 1.1},
        breakdown_window="trace",
        definition="an iteration of the loop at train.py:397 (train_loop)",
    ),
    findings=(INPUT_FINDING, RETRACE_FINDING, EAGER_FINDING),
    overhead=Overhead(baseline_ratio=1.004, per_probe={"lines": 1.21, "tfprof": 1.04}),
    windows=(
        WindowSummary(name="warmup", first_step=1, steps=2),
        WindowSummary(name="clean", first_step=3, steps=3),
        WindowSummary(name="lines", first_step=6, steps=3),
        WindowSummary(name="trace", first_step=9, steps=5, status="cut", reason="4 of 5 steps"),
        WindowSummary(name="eager", first_step=0, steps=0, status="skipped", reason="not asked for"),
    ),
    notes=("The script started 1 child process, which is not in this report.",),
)

NO_STEPS = Report(
    schema=REPORT_SCHEMA,
    run=RunInfo(argv=("-m", "my.model"), exit_code=1, status="failed", wall_s=3.2),
    probes=(
        ProbeOutcome(name="retrace", status="ok", summary="No function was traced more than once."),
        ProbeOutcome(name="tfprof", status="failed", reason="ProfilerNotRunningError: no profiler is running"),
    ),
    steps=StepSummary(count=0, source="none", note="No fit, no train_step and no loop around an optimizer was seen."),
    findings=(),
    overhead=Overhead(),
    headline="",
)


#: As with the default probes: one section in full, an account with outliers, a remark.
BRIEF = msgspec.structs.replace(
    NAIVE_GAN,
    shown=("lines",),
    words={"tfprof": "the trace"},
    headline="First: the data set is loaded again in every step (train.py:397).",
    findings=(INPUT_FINDING, msgspec.structs.replace(EAGER_FINDING, severity="info")),
    steps=msgspec.structs.replace(
        NAIVE_GAN.steps,
        breakdown_window="tfprof and samples",
        account=StepAccount(
            steps=27,
            mean_ms=515.0,
            ordinary_ms=500.0,
            between_ms={"evaluate": 30.0, "saving": 8.0},
            between_total_ms=41.0,
            outliers=(
                Outlier(step=12, ms=720.0, excess_ms=220.0, cause="tracing", found_ms=200.0),
                Outlier(step=20, ms=700.0, excess_ms=200.0, cause="tracing", found_ms=190.0),
                Outlier(step=31, ms=560.0, excess_ms=60.0),
            ),
        ),
        warm_up=WarmUp(
            total_s=7.2,
            parts_s={
                "importing TensorFlow": 3.4,
                "tracing": 2.1,
                "data and other Python": 1.7,
            },
        ),
    ),
)

#: A script that mostly predicts, after a little training.
PREDICTING = msgspec.structs.replace(
    BRIEF,
    run_account=RunAccount(
        total_s=47.3,
        parts_s={"imports": 2.9, "building": 0.2, "training": 3.1, "prediction": 41.0, "ending": 0.1},
        lines={
            "building": (LineTime(SourceSpan("/home/me/vae/model.py", 12), 0.2),),
            "training": (LineTime(SourceSpan("/home/me/vae/vae.py", 60), 3.1),),
            "prediction": (
                LineTime(SourceSpan("/home/me/vae/vae.py", 88, "grid"), 40.9),
                LineTime(SourceSpan("/home/me/vae/vae.py", 70, "main"), 0.1),
            ),
        },
        imports_s={"tensorflow": 2.2, "before TensorFlow": 0.7},
    ),
)


def test_made_reports_have_the_shape_they_claim() -> None:
    assert len(NAIVE_GAN.findings) == 3
    for probe in NAIVE_GAN.probes:
        for table in probe.tables:
            assert all(len(row) == len(table.columns) for row in table.rows)
