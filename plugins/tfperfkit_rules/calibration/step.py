"""Numbers of the rules about what stands around the compiled step."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.calibration.machines import TWO_BUSY_CORES

TOGETHER = Threshold(
    50,
    "steps",
    "in one call, as the advice says",
    Chosen("a fiftieth of a call's cost is left, and callbacks still hear of every 50th step"),
)
CALLS_SAVED_MIN = Threshold(
    0.9,
    "share",
    "of the Python around a call, what goes at least with TOGETHER steps in one",
    Chosen("beside the fiftieth that stays, what callbacks do for each batch"),
)
CALLS_LEFT = Threshold(
    1 / TOGETHER.value,
    "share",
    "of the Python around a call, what is left at best",
    Derived("one call in TOGETHER steps"),
)
GRAPH_LEFT = Threshold(
    2.0,
    "number",
    "what running operations in a graph takes, in terms of their own time (the executor)",
    Measured(
        "a step of 0.9 ms whose operations took 0.07 ms: in executions of 100 steps one took 0.16 ms in the graph",
        TWO_BUSY_CORES,
        1,
    ),
)
HOT = Threshold(
    0.08,
    "share",
    "of the step in a function's own lines, from which on they are named",
    Chosen("above XProf's moderate 5 % by the half width of a share's 95 % interval after 200 samples"),
)
MIN_SAMPLES = Threshold(
    4,
    "samples",
    "with fewer a line may be there by chance",
    Chosen("the fewest whose 95 % interval (Poisson) lies above 1"),
)
ALONE = Threshold(
    0.6, "share", "of its function's time: a line with it is the place, else the loop", Chosen("clearly more than half")
)
MIN_TIMED_MS = Threshold(
    0.1,
    "ms",
    "each time that a line of C code runs, from which on line_profiler's time for it is taken in place of samples",
    Derived("measuring a line costs a microsecond at most (docs/overhead.md: 0.1 us become 1): a hundredth of it"),
)
LEFT_MIN = Threshold(
    0.05,
    "share",
    "of the script's own Python, what is left at best, moved or rewritten",
    Chosen("a batch picked, a call made"),
)
LEFT_MAX = Threshold(
    0.5,
    "share",
    "of the script's own Python, what is left at worst, moved or rewritten",
    Chosen("half: nothing bounds it"),
)
SIDE_STEPS = Threshold(
    3,
    "steps",
    "in which side work was seen, for being on their way",
    Chosen("the fewest that are not a pair by chance"),
)
SIDE_LEFT_MIN = Threshold(
    0.01, "share", "of side work, what is left at best when it is done rarely", Chosen("the advice: every 100 steps")
)
SIDE_LEFT_MAX = Threshold(
    shared.RARE_SITE.value,
    "share",
    "of side work, what is left at worst when it is done rarely",
    Derived("once an epoch, as the advice says, of the 20 steps that RARE_SITE takes for a short one"),
)
SIDE_LEFT_OF_WORK = Threshold(
    0.2,
    "share",
    "of side work that a loop is there for, what is left at worst in fewer and larger pieces",
    Chosen("a fifth: what the pieces themselves take is not known"),
)
BEHIND_LEFT_MIN = Threshold(
    0.4,
    "share",
    "of compiled calls that each follow side work, what they take without it at best: caches, pages and threads are "
    "another's then",
    Measured("see BEHIND_LEFT_MAX", TWO_BUSY_CORES, 36),
)
BEHIND_LEFT_MAX = Threshold(
    1.0,
    "share",
    "of compiled calls that each follow side work, what they take without it at worst",
    Measured(
        "three steps in a row, of 3 to 60 ms, against the same behind a checkpoint, JSON, np.savetxt or summaries: "
        "0.39 to 1.0 (10th to 90th percentile), median 0.81, the shortest step least; behind an evaluation a median "
        "of 1.03",
        TWO_BUSY_CORES,
        36,
    ),
)
SIDE_SELDOM = Threshold(
    100,
    "steps",
    "between two times that side work is done, from which on that is as seldom as the advice asks for",
    Derived("the advice: every hundred steps, every few hundred, once an epoch"),
)
SIDE_LONG = Threshold(
    3,
    "samples",
    "of one time, from which on none of the times was missed",
    Chosen("two would be the least that can last"),
)
SIDE_LARGE = Threshold(
    0.3,
    "share",
    "of the loop, from which on side work is reported however seldom it is",
    Chosen("the share at which the breakdown's unexplained parts are reported"),
)
CALLBACK_SHARE = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "of a loop in callbacks that write: from it on all that is not the compiled step may be theirs",
    Derived("a high share, as XProf has it for one part of a step"),
)
MAX_LINE = Threshold(
    70, "characters", "of a line of source that a detail quotes", Chosen("with its figures half a page")
)
PAUSE_LEFT = Threshold(
    0.1,
    "share",
    "of a pause that the script makes itself, what is left at worst",
    Chosen("nearly all of it goes with the call; what it waited for may take a little"),
)
OWN_COLLECTIONS = Threshold(
    0.01,
    "share",
    "of garbage collections by hand at each turn, what Python's own take in their place at worst",
    Derived(
        "Python makes a full one when its objects have grown by a quarter: with a thousand new ones a step that stay, "
        "of 400,000, in each hundredth step. Measured over 60 steps of five kinds: 0.0000, none was full"
    ),
)
AFTER_COLLECTING_MIN = Threshold(
    0.011,
    "share",
    "of a full collection's time, what compiled calls behind it take longer at least",
    Measured(
        "steps of a small network, train_on_batch and three products took 4 to 13 ms longer behind a collection of "
        "390 to 500 ms (0.011 to 0.026 of it), two blocks each; eager gradients and Python's lists -3 to 3 ms",
        TWO_BUSY_CORES,
        6,
    ),
)
AFTER_COLLECTING_MAX = Threshold(
    0.026,
    "share",
    "of a full collection's time, what compiled calls behind it take longer at most",
    Measured("see AFTER_COLLECTING_MIN", TWO_BUSY_CORES, 6),
)
COLD_CALLS_MIN = Threshold(
    0.16,
    "share",
    "of compiled calls that each follow a full collection, the least that bounds what goes without it",
    Measured("see AFTER_COLLECTING_MIN: 0.16 to 0.66 of their time", TWO_BUSY_CORES, 6),
)
COLD_CALLS_MAX = Threshold(
    0.66,
    "share",
    "of compiled calls that each follow a full collection, what goes without it at most",
    Measured("see COLD_CALLS_MIN", TWO_BUSY_CORES, 6),
)
BEHIND_COLLECTION_NS = Threshold(
    20_000_000,
    "ns",
    "behind a garbage collection, in which the first sample is of the line that asked for it",
    Derived("twice the pause between two samples, 10 ms: the sampler waits for the interpreter's lock meanwhile"),
)
EPOCH_ENDS_MIN_SHARE = Threshold(
    0.1,
    "share",
    "of the run in what follows each epoch, from which on it is reported",
    Chosen("a tenth of the run is what each part of its account owes an owner from"),
)
EPOCHS_MIN = Threshold(
    3, "epochs", "after which it was seen, for 'after each epoch'", Chosen("fewer tell no habit, and cost little")
)
PASSES_MIN = Threshold(
    1.5, "number", "passes over its data in one validation, from which on it is reported", Chosen("half of it again")
)
EPOCHS_LEFT_MIN = Threshold(
    0.2, "share", "of what follows each epoch, what is left at best", Derived("the advice: every fifth epoch")
)
EPOCHS_LEFT_MAX = Threshold(
    0.5, "share", "of what follows each epoch, what is left at worst", Derived("every second epoch")
)
SMALL_VALIDATION = Threshold(
    8,
    "times",
    "smaller than those of the training, from which on batches of the validation are small",
    Chosen("the forward pass alone takes a third of a training step, so that a batch half as large is no cause"),
)
EPOCH_GAP = Threshold(
    0.25,
    "share",
    "of the pauses that hold half of the time between steps: from it on a pause ends an epoch",
    Measured("between batches 0.0 to 0.2 ms, between epochs of 3 steps 180 to 1,600 ms", TWO_BUSY_CORES, 400),
)
LONG_EPOCH = Threshold(
    100,
    "steps",
    "of an epoch, as the advice makes it",
    Chosen("a hundredth of what an epoch costs is left for each step, and callbacks still hear of every 100th"),
)
JOINED_MIN = Threshold(
    5, "epochs", "made one by the advice, at least", Derived("what is left is at most EPOCHS_LEFT_MIN")
)
MOMENT_MAX_NS = Threshold(
    500_000_000,
    "ns",
    "that a stack sample stands for at most",
    Derived("samples are taken every 0.5 s at the rarest: what is longer was not seen"),
)
TREND_GROUPS = Threshold(
    12,
    "groups",
    "of steps, whose medians make a trend",
    Chosen("66 pairs: enough for an order that is no chance"),
)
TREND_STEPS = Threshold(5, "steps", "in a group at least", Chosen("the fewest whose median two outliers don't move"))
TREND_ORDER = Threshold(
    0.7,
    "number",
    "Kendall's tau of the groups' medians, for steps that get longer",
    Derived("3.3 standard deviations (0.212) of tau for 12 values without a trend: less than one run in 1000"),
)
TREND_EXTRA = Threshold(
    0.1, "share", "of the mean step that is there only because steps got longer", Chosen("a fifth from first to last")
)
TREND_PARTS = Threshold(
    3, "number", "parts of the run, of which the first and the last are compared line by line", Chosen("thirds")
)
PERIOD_MIN = Threshold(
    3, "steps", "in a turn with one long step: every second one is how steps are", Chosen("fewer are no exception")
)
PERIODS_MIN = Threshold(4, "count", "long steps in turn", Chosen("three gaps of one length are no chance"))
PERIOD_LONGEST = Threshold(40, "steps", "the longest, whose distances are looked at", Chosen("ten times PERIODS_MIN"))
SEEDED_OFTEN = Threshold(
    0.5,
    "number",
    "times in a step that the seed is set, from which the steps as a whole pay for it",
    Chosen("below it most steps keep their kernels"),
)
KERNELS_LEFT = Threshold(
    0.02,
    "share",
    "of the time between operations whose kernels are made anew, what is left at most when they are kept",
    Measured(
        "a step of 661 operations: 0.8 ms, and 220 to 590 ms with tf.random.set_seed before it",
        TWO_BUSY_CORES,
        1,
    ),
)
COPIES_LEFT = Threshold(
    0.2,
    "share",
    "of copying an array whole at each turn, what is left at most when its parts are joined once",
    Chosen("a list that grows and one copy, where a hundred turns copied fifty times as much"),
)
COPIES_FALL = Threshold(
    0.5,
    "share",
    "of the turns before, to which they fall at once where a loop begins anew with an empty array",
    Derived(
        "from all of the copying to none, where it is half of a turn or more; a median of five does not halve by chance"
    ),
)
COPIES_GROW = Threshold(
    1.5,
    "number",
    "times as many samples in the second half of the turns, from which a join takes longer the longer its array is",
    Derived("3 where all of it grows from nothing (a quarter and three quarters); 1 where nothing does"),
)
SPIN_MIN_STEPS = Threshold(
    30,
    "steps",
    "in which the interpreter's lock was handed over as usual, and more often, each: with fewer they are not compared",
    Chosen("the mean of so many has a fifth of one step's deviation"),
)
SPIN_MIN_FACTOR = Threshold(
    1.2,
    "number",
    "times as long as where the lock is handed over more often: steps that take less tell of no thread that takes it",
    Chosen("parts of one run differ by as much on a shared machine: see headroom's MIN"),
)
