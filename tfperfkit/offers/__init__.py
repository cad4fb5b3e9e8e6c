"""What one probe may tell the others: small records, asked for by type and never by the name of a probe.

A probe puts them into ``ProbeResult.offers``; the step's account, the headline and every rule ask
``Evidence.offer(kind)`` and get the first that a probe of the run made, or None. So whoever measures the same quantity
makes the same offer, and nothing that reads it changes. A record type of your own is an offer like these: whoever
imports it can ask for it. A probe's ``data`` is always on offer too, under its own type, for those who know it.
"""

from tfperfkit.offers.functions import (
    AvoidableTracing,
    FixedOperations,
    FixedWork,
    FunctionCost,
    FunctionCosts,
    LayerWork,
    TraceCount,
    TraceCounts,
    VaryingArgument,
    VaryingArguments,
)
from tfperfkit.offers.process import GarbageCollections, Gpus, HostRead, HostReads, InputPace, MemoryLimit, MemoryUse
from tfperfkit.offers.source import (
    CompiledFunction,
    CompiledFunctions,
    CompiledLine,
    LineCost,
    LineCosts,
    LineCount,
    LineCounts,
    LineInGraph,
    StepPhases,
)
from tfperfkit.offers.trace import (
    AcceleratorUse,
    ComputedOperation,
    ComputedStep,
    ComputedStretch,
    Exchange,
    Exchanges,
    FunctionCalls,
    GraphWaits,
    InputPrefetch,
    OperationsAfterSteps,
    RanOperation,
    RanOperations,
    StepBreakdown,
    XlaCompilations,
)

__all__ = [
    "AcceleratorUse",
    "AvoidableTracing",
    "CompiledFunction",
    "CompiledFunctions",
    "CompiledLine",
    "ComputedOperation",
    "ComputedStep",
    "ComputedStretch",
    "Exchange",
    "Exchanges",
    "FixedOperations",
    "FixedWork",
    "FunctionCalls",
    "GraphWaits",
    "FunctionCost",
    "FunctionCosts",
    "GarbageCollections",
    "Gpus",
    "HostRead",
    "HostReads",
    "InputPace",
    "InputPrefetch",
    "LayerWork",
    "LineCost",
    "LineCosts",
    "LineCount",
    "LineCounts",
    "LineInGraph",
    "MemoryLimit",
    "MemoryUse",
    "OperationsAfterSteps",
    "RanOperation",
    "RanOperations",
    "StepBreakdown",
    "StepPhases",
    "TraceCount",
    "TraceCounts",
    "VaryingArgument",
    "VaryingArguments",
    "XlaCompilations",
]
