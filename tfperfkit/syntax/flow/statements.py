"""Statements: what each does, and which way the analysis goes on after it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfperfkit.syntax.effects import find_effect
from tfperfkit.syntax.flow.classes import get_decorators
from tfperfkit.syntax.flow.expressions import COMMUTING, Expressions
from tfperfkit.syntax.flow.objects import canonical_api
from tfperfkit.syntax.flow.state import Environment, Jumps, Undecided
from tfperfkit.syntax.flow.values import ELEMENTS, IMMUTABLE, NONE, NOTHING, Code, Value, replace
from tfperfkit.syntax.nodes import find_nodes

#: Types whose objects keep nothing of exceptions, and change nothing, where a ``with`` goes in and out.
_CONTEXTS = frozenset({"tape", "context", "file", "logger"})


class Statements(Expressions):
    """Follows statements in their order."""

    def execute(self, statements: Sequence[ast.stmt]) -> None:
        """Follow statements until one leaves them."""
        for node in statements:
            if self.env is None:
                return
            self.spend()
            method = getattr(self, f"_{type(node).__name__}", None)
            if method is None:
                raise Undecided(type(node).__name__)
            method(node)

    def _Pass(self, node: ast.Pass) -> None:
        pass

    _Global = _Nonlocal = _Pass

    def _Expr(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def _Assert(self, node: ast.Assert) -> None:
        value = self.evaluate(node.test)
        self.read_deeply(value)
        if self.may_run_code(value):
            self.call_unknown(node, value)

    def _Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.assign(target.id, self.look_up(target.id))
            elif isinstance(target, ast.Subscript):
                base, index = self.evaluate(target.value), self.evaluate(target.slice)
                self.store_item(base, replace(index, key=None), NOTHING, target)
            elif isinstance(target, ast.Attribute):
                self.store_attribute(self.evaluate(target.value), target.attr, NOTHING, target)
            else:
                raise Undecided("del")

    def _Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Name) and self._accumulates(target, node.value):
            return
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign_target(target, value)

    def _accumulates(self, target: ast.Name, value: ast.expr) -> bool:
        """Follow ``total = total + x``, which adds as ``total += x`` does."""
        if (
            not isinstance(value, ast.BinOp)
            or not isinstance(value.op, ast.Add)
            or not isinstance(value.left, ast.Name)
        ):
            return False
        if value.left.id != target.id or target.id in {item.id for item in find_nodes(value.right, ast.Name)}:
            return False
        owner = self.frame.owner(target.id)
        if owner is None or self.value_of((owner, target.id)).region is not None:
            return False
        self._add(target, value.op, self.evaluate(value.right), value)
        return True

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign_target(node.target, self.evaluate(node.value))

    def _AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            self._add(target, node.op, self.evaluate(node.value), node)
            return
        base = self.evaluate(target.value)
        index = self.evaluate(target.slice) if isinstance(target, ast.Subscript) else NOTHING
        count, deep = len(self.accesses), len(self.deep_reads)
        if isinstance(target, ast.Subscript):
            current = self.load_item(base, index, target)
        else:
            current = self.load_attribute(base, target.attr, target)
        # The target of an addition is not read otherwise.
        del self.accesses[count:], self.deep_reads[deep:]
        added = self.evaluate(node.value)
        how = self._how(node.op, current)
        value = self._combine(node, current, added, how)
        if how == "assign":
            self.read_deeply(current)
            if isinstance(target, ast.Subscript):
                self.load_item(base, index, target)
            else:
                self.load_attribute(base, target.attr, target)
        if isinstance(target, ast.Subscript):
            sliced = any(isinstance(item, ast.Slice) for item in (target.slice, *getattr(target.slice, "elts", ())))
            keyed = index if how == "assign" else replace(index, key=None) if index is not NOTHING else index
            self.store_item(base, keyed, value, target, how, sliced)
        else:
            self.store_attribute(base, target.attr, value, target, how)

    def _add(self, target: ast.Name, op: ast.operator, added: Value, node: ast.AST) -> None:
        """Follow ``name += added``, and its like."""
        owner = self.frame.owner(target.id) or self.frame
        current = self.value_of((owner, target.id))
        how = self._how(op, current)
        if current.carried:
            self.use_carried((owner, target.id))
            if how == "assign":
                self.reads_carried.add((owner, target.id))
        self.bind((owner, target.id), self._combine(node, current, added, how), how)

    def _how(self, op: ast.operator, current: Value) -> str:
        group = COMMUTING.get(type(op))
        if group is None or (group == "|" and current.type not in ("set", "atom")):
            return "assign"
        if group == "*" and current.type in ("list", "tuple"):
            return "assign"
        return f"collect:{group}"

    def _combine(self, node: ast.AST, current: Value, added: Value, how: str) -> Value:
        """Return what ``current += added`` stands for; the object itself may be changed."""
        if current is NOTHING:
            return added
        if self.may_run_code(current, added):
            return self.call_unknown(node, current, added)
        self.read_deeply(added)
        varies = self.iterating and (current.varies or self.heap.varies_deeply(added))
        if current.type in IMMUTABLE and current.region is None:
            kind = "tensor" if "tensor" in (current.type, added.type) else "atom"
            if added.region is None or added.type in ("list", "tuple"):
                return Value(type=kind, varies=varies)
            made = self.allocate(node, type="ndarray" if added.type == "ndarray" else "")
            return self.hold(made, added).with_variation(varies)
        if current.type == "tuple":
            made = self.allocate(node, type="tuple")
            return self.hold(made, self.read_part(current), self.element(added, node)).with_variation(varies)
        part = added if current.type == "ndarray" else self.element(added, node) if added.region is not None else added
        if current.type == "ndarray" and added.type in ("ndarray", "variable"):
            part = Value(type="atom")
        self.write(current, ELEMENTS, part.with_variation(varies), how)
        if how == "assign" and current.region is not None:
            self.change_deeply(current, varies)
        return replace(current, key=None, own=current.own and current.type != "").with_variation(varies)

    # Ways

    def _If(self, node: ast.If) -> None:
        test = self.evaluate(node.test)
        self._branch(test, [node.body, node.orelse], node)

    def _branch(self, test: Value, ways: Sequence[Sequence[ast.stmt]], node: ast.AST) -> None:
        if self.may_run_code(test):
            self.call_unknown(node, test)
        self.read_deeply(test)
        control, start = self.control, self.copy_env()
        self.control = control or (self.iterating and self.heap.varies_deeply(test))
        ends = []
        for way in ways:
            self.env = None if start is None else dict(start)
            self.execute(way)
            ends.append(self.env)
        self.env, self.control = self.join_envs(ends), control

    def _For(self, node: ast.For) -> None:
        over = self.evaluate(node.iter)
        self.loop_over(node, over)

    def _AsyncFor(self, node: ast.AsyncFor) -> None:
        self.loop_over(node, self.call_unknown(node, self.evaluate(node.iter)))

    def loop_over(self, node: ast.For | ast.AsyncFor, over: Value) -> None:
        """Follow an inner loop."""
        control = self.control
        self.control = control or (self.iterating and self.heap.varies_deeply(over))

        def run() -> None:
            # The code of a lazy iterable, which makes its elements as they are taken, runs in between.
            current = replace(self.evaluate(node.iter), lazy=False) if over.lazy else over
            self.assign_target(node.target, self.element(current, node.iter), node.iter)
            self.execute(node.body)

        self._loop(run, node.orelse)
        self.control = control

    def _While(self, node: ast.While) -> None:
        control = self.control

        def run() -> None:
            self.control = control
            value = self.evaluate(node.test)
            if self.may_run_code(value):
                self.call_unknown(node, value)
            self.read_deeply(value)
            if self.iterating and self.heap.varies_deeply(value) and not self.control:
                self.jumps[-1].varying = True
            self.control = self.control or self.jumps[-1].varying
            self.execute(node.body)

        self._loop(run, node.orelse)
        self.control = control

    def _loop(self, run: object, orelse: Sequence[ast.stmt]) -> None:
        assert callable(run)
        jumps = self.repeat(run)
        if orelse:
            control, after = self.control, self.copy_env()
            self.control = control or jumps.varying
            self.execute(orelse)
            self.env, self.control = self.join_envs([after, self.env]), control

    def _leave_to(self, jumps: Jumps | None) -> None:
        """Note that inner statements may be left out, if that depends on what varies."""
        for each in reversed(self.jumps):
            if self.control and not each.control:
                each.varying = True
            if each is jumps:
                break
        self.env = None

    def _Break(self, node: ast.Break) -> None:
        jumps = next((each for each in reversed(self.jumps) if each.is_loop), None)
        if jumps is not None:
            jumps.breaks.append(self.copy_env())
        else:
            self.doubt("an iteration may end the loop")
        self._leave_to(jumps)

    def _Continue(self, node: ast.Continue) -> None:
        jumps = next((each for each in reversed(self.jumps) if each.is_loop), None)
        (jumps.continues if jumps is not None else self.continued).append(self.copy_env())
        self._leave_to(jumps)

    continued: list[Environment | None]

    def _Return(self, node: ast.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else NONE
        jumps = next((each for each in reversed(self.jumps) if not each.is_loop), None)
        if not self.iterating and jumps is None:
            function = self.frame.node
            self.results[function] = self.heap.join(self.results.get(function, NOTHING), replace(value, key=None))
            self.env = None
            return
        if jumps is not None:
            jumps.returns.append(self.copy_env())
            jumps.result = self.heap.join(jumps.result, value.with_variation(self.control))
        else:
            self.doubt("an iteration may end the loop")
        self._leave_to(jumps)

    def _Raise(self, node: ast.Raise) -> None:
        for item in (node.exc, node.cause):
            if item is not None:
                self.evaluate(item)
        acts = self.acts
        self.doubt("an iteration may raise")
        if not self.control:
            self.acts = acts  # each iteration raises, or none does
        jumps = next((each for each in reversed(self.jumps) if not each.is_loop), None)
        self._leave_to(jumps)

    def _Try(self, node: ast.Try) -> None:
        control, before = self.control, self.copy_env()
        if node.handlers:
            self.control = control or self.iterating
        leaving = (ast.Return, ast.Break, ast.Continue)
        leaves = any(find_nodes(item, *leaving) for item in (*node.body, *node.handlers, *node.orelse))
        if leaves and any(find_nodes(item, ast.Name, ast.Attribute, ast.Call) for item in node.finalbody):
            raise Undecided("a finally clause runs on several ways")
        recorder: Environment = {}
        self.recorders.append(recorder)
        self.execute(node.body)
        self.recorders.pop()
        ends = [self.env]
        failed = None if before is None else dict(before)
        if failed is not None and self.iterating:
            for name, value in recorder.items():
                known = failed.get(name) or self._missing(name)
                failed[name] = self.heap.join(known, value).with_variation(True)
        self.execute(node.orelse)
        ends = [self.env]
        for handler in node.handlers:
            self.env = None if failed is None else dict(failed)
            if handler.type is not None:
                self.evaluate(handler.type)
            if handler.name:
                self.assign(handler.name, self.unknown_value())
            self.execute(handler.body)
            ends.append(self.env)
        self.env, self.control = self.join_envs(ends), control
        if node.finalbody:
            if self.env is None:
                self.env = None if failed is None else dict(failed)
                self.execute(node.finalbody)
                self.env = None
            else:
                self.execute(node.finalbody)

    _TryStar = _Try

    def _With(self, node: ast.With) -> None:
        control = self.control
        exits: list[Value] = []
        for item in node.items:
            value = self.evaluate(item.context_expr)
            entered = value
            if value.instance is not None:
                entered = self._call_method(item.context_expr, value, "__enter__")
                exits.append(value)
                self.control = self.control or self.iterating
            elif value.type not in _CONTEXTS and value is not NOTHING:
                entered = self.call_unknown(item.context_expr, value)
                self.control = self.control or self.iterating
            if item.optional_vars is not None:
                self.assign_target(item.optional_vars, entered)
        self.execute(node.body)
        for value in reversed(exits):
            if self.env is not None:
                self._call_method(node, value, "__exit__")
            else:
                self.call_unknown(node, value)
        self.control = control

    def _AsyncWith(self, node: ast.AsyncWith) -> None:
        for item in node.items:
            value = self.call_unknown(item.context_expr, self.evaluate(item.context_expr))
            if item.optional_vars is not None:
                self.assign_target(item.optional_vars, value)
        control = self.control
        self.control = control or self.iterating
        self.execute(node.body)
        self.control = control

    def _call_method(self, node: ast.AST, value: Value, name: str) -> Value:
        assert value.instance is not None
        try:
            method = self.find_method(value.instance, name)
        except LookupError:
            method = None
        if method is None or (name == "__exit__" and len(method.args.args) != 4):
            return self.call_unknown(node, value)
        call = ast.Call(ast.Name("", ast.Load()), [], [])
        if name == "__exit__":
            call.args = [ast.Constant(None) for _ in range(3)]
            self.given.update(dict.fromkeys(call.args, NONE))
        return self.call_code(node, Code(method, value), call, False)

    def _Match(self, node: ast.Match) -> None:
        subject = self.evaluate(node.subject)
        if self.may_run_code(subject):
            subject = self.call_unknown(node, subject)
        self.read_deeply(subject)
        control, start = self.control, self.copy_env()
        varies = self.iterating and self.heap.varies_deeply(subject)
        ends: list[Environment | None] = []
        for case in node.cases:
            self.env = None if start is None else dict(start)
            self.control = control or varies
            for pattern in find_nodes(case.pattern, ast.pattern):
                for name in (getattr(pattern, "name", None), getattr(pattern, "rest", None)):
                    if isinstance(name, str):
                        self.assign(name, self._captured(subject, case.pattern).with_variation(varies))
                if isinstance(pattern, ast.MatchValue):
                    self.evaluate(pattern.value)
                if isinstance(pattern, ast.MatchClass):
                    self.evaluate(pattern.cls)
            if case.guard is not None:
                guard = self.evaluate(case.guard)
                self.read_deeply(guard)
                self.control = self.control or (self.iterating and self.heap.varies_deeply(guard))
                varies = varies or self.control
            start = self.join_envs([start, self.env])
            self.execute(case.body)
            ends.append(self.env)
        ends.append(start)
        self.env, self.control = self.join_envs(ends), control

    def _captured(self, subject: Value, pattern: ast.pattern) -> Value:
        if subject.region is None or isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
            return replace(subject, key=None)
        return Value(region=self.heap.collapse(subject.region), varies=subject.varies)

    # Definitions

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for item in node.decorator_list:
            self.evaluate(item)
        value = Value(code=Code(node))
        if "?" in get_decorators(node):
            self.heap.escape(value)
            value = self.unknown_value()
        self.assign(node.name, value)

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef) -> None:
        if self.iterating:
            self.call_unknown(node)
        self.bases[node] = [self.evaluate(item) for item in node.bases]
        for item in node.decorator_list:
            self.evaluate(item)
        value = Value(made=node)
        if node.keywords:
            self.heap.escape(Value(instance=node))
            value = self.unknown_value()
        self.assign(node.name, value)
        outer, self.frame = self.frame, self.frames.of[node]
        self.execute(node.body)
        for (frame, name), held in list(self.names.items()):
            if frame is self.frame and held.code is None:
                self.heap.store(self.class_region(node), name, held)
        self.frame = outer

    def _Import(self, node: ast.Import) -> None:
        for item in node.names:
            api = item.name if item.asname else item.name.partition(".")[0]
            self.assign(item.asname or api, self._imported(api))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        for item in node.names:
            if item.name != "*":
                module = node.module if node.module is not None and not node.level else "?"
                self.assign(item.asname or item.name, self._imported(f"{module}.{item.name}"))

    def _imported(self, api: str) -> Value:
        effect = find_effect(canonical_api(api))
        if effect is not None and "attribute" in effect.kinds:
            return Value(type=effect.result)
        package = canonical_api(api).partition(".")[0]
        known = package in KNOWN_PACKAGES
        return Value(api=api, region=None if known else self.library(package))


#: Packages whose modules hold nothing that a script changes, as far as the table of effects has them.
KNOWN_PACKAGES = frozenset(
    {"numpy", "tensorflow", "keras", "math", "itertools", "operator", "collections", "random", "json", "copy", "os"}
    | {"time", "re", "statistics", "logging", "tqdm", "string", "pathlib", "contextlib", "io", "functools", "builtins"}
    | {"dataclasses", "abc", "typing", "tf_keras", "sys", "csv"}
)
