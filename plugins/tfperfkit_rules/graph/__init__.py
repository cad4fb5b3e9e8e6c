"""Rules about compiled functions: work that need not be done, and what in a graph costs more than it should."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.graph.all_differences import AllDifferences
from tfperfkit_rules.graph.all_positions import AllPositions
from tfperfkit_rules.graph.apart_turns import apart_turns
from tfperfkit_rules.graph.big_constants import big_constants
from tfperfkit_rules.graph.checks_on import checks_on
from tfperfkit_rules.graph.clipped_norms import ClippedNorms
from tfperfkit_rules.graph.copied_layers import copied_layers
from tfperfkit_rules.graph.copied_variable import CopiedVariable
from tfperfkit_rules.graph.dense_mask import DenseMask
from tfperfkit_rules.graph.dense_updates import dense_updates
from tfperfkit_rules.graph.factorised_again import FactorisedAgain
from tfperfkit_rules.graph.fixed_work import fixed_work
from tfperfkit_rules.graph.flattened import Flattened
from tfperfkit_rules.graph.float64 import float64
from tfperfkit_rules.graph.gradients import repeated_gradients
from tfperfkit_rules.graph.growing_argument import GrowingArgument
from tfperfkit_rules.graph.jacobian_diagonal import JacobianDiagonal
from tfperfkit_rules.graph.matmul_order import MatmulOrder
from tfperfkit_rules.graph.metrics import metrics
from tfperfkit_rules.graph.padded_calls import PaddedCalls
from tfperfkit_rules.graph.padding import padding
from tfperfkit_rules.graph.picked_branch import PickedBranch
from tfperfkit_rules.graph.prints import prints
from tfperfkit_rules.graph.python_calls import python_calls, side_effects
from tfperfkit_rules.graph.repeated_forward import repeated_forward
from tfperfkit_rules.graph.repeated_rows import CopiesInNetwork
from tfperfkit_rules.graph.same_in_each import SameInEachCall
from tfperfkit_rules.graph.same_in_unrolled import SameInUnrolled
from tfperfkit_rules.graph.same_matrix import SameMatrix
from tfperfkit_rules.graph.same_rows import SameRows
from tfperfkit_rules.graph.separable_kernel import SeparableKernel
from tfperfkit_rules.graph.session_forward import session_forward
from tfperfkit_rules.graph.slow_kernels import slow_kernels
from tfperfkit_rules.graph.slow_layers import slow_layers
from tfperfkit_rules.graph.small_loops import small_loops
from tfperfkit_rules.graph.small_updates import SmallUpdates
from tfperfkit_rules.graph.sparse_as_dense import SparseAsDense
from tfperfkit_rules.graph.unread_results import UnreadResult
from tfperfkit_rules.graph.unrolled_loops import unrolled_loops
from tfperfkit_rules.graph.weight_averages import WeightAverages
from tfperfkit_rules.graph.whole_penalty import WholePenalty
from tfperfkit_rules.graph.whole_shuffle import WholeShuffle
from tfperfkit_rules.graph.whole_sort import WholeSort
from tfperfkit_rules.graph.whole_table import WholeTable

RULES: tuple[Rule, ...] = (
    repeated_forward,
    session_forward,
    metrics,
    slow_layers,
    small_loops,
    dense_updates,
    slow_kernels,
    apart_turns,
    fixed_work,
    padding,
    PaddedCalls(),
    unrolled_loops,
    copied_layers,
    big_constants,
    float64,
    python_calls,
    side_effects,
    prints,
    checks_on,
    repeated_gradients,
    WholeSort(),
    WholeShuffle(),
    DenseMask(),
    MatmulOrder(),
    WholeTable(),
    SparseAsDense(),
    AllDifferences(),
    CopiedVariable(),
    JacobianDiagonal(),
    Flattened(),
    SameInEachCall(),
    GrowingArgument(),
    FactorisedAgain(),
    WeightAverages(),
    ClippedNorms(),
    SmallUpdates(),
    CopiesInNetwork(),
    SameMatrix(),
    PickedBranch(),
    AllPositions(),
    WholePenalty(),
    SeparableKernel(),
    SameInUnrolled(),
    SameRows(),
    UnreadResult(),
)
