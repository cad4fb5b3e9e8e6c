"""Builds the C code of the wheel where there is a compiler. Where there is none tfperf is whole without it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULES = (
    "tfperfkit.instruments.steps._quiet",
    "tfperfkit.instruments.stacks._look",
    "tfperfkit.storage._apart",
)


class NativeHook(BuildHookInterface):
    """For wheels, editable ones too. In the environment ``TFPERF_PURE=1`` makes a wheel for every platform;
    ``TFPERF_NATIVE=1`` makes one with the C code or none at all."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # Elsewhere CLOCK_MONOTONIC, by which it takes the time, is another clock than time.monotonic_ns().
        needed = os.environ.get("TFPERF_NATIVE") == "1"
        if os.environ.get("TFPERF_PURE") == "1" or sys.platform != "linux":
            if needed:
                raise RuntimeError("TFPERF_NATIVE=1: the C code is for Linux, and not with TFPERF_PURE=1")
            return
        for module in MODULES:
            source = Path(self.root, *module.split(".")).with_suffix(".c")
            target = source.with_name(source.stem + sysconfig.get_config_var("EXT_SUFFIX"))
            try:
                _compile(module, source, target)
            except BaseException as error:  # setuptools ends by SystemExit too
                if needed or isinstance(error, KeyboardInterrupt):
                    raise
                reason = " ".join(str(error).split())[:200]
                self.app.display_warning(
                    f"tfperfkit: {source.name} could not be built, Python does its work ({reason})"
                )
                continue
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"].append(str(target.relative_to(self.root)))


def _compile(module: str, source: Path, target: Path) -> None:
    import tempfile

    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    with tempfile.TemporaryDirectory() as folder:
        command = build_ext(Distribution({"ext_modules": [Extension(module, [str(source)])]}))
        command.build_lib = command.build_temp = folder
        command.ensure_finalized()
        command.run()
        made = Path(folder, command.get_ext_filename(module)).read_bytes()
    # A new file: a process that has the old one loaded goes on with it.
    new = target.with_name(target.name + ".new")
    new.write_bytes(made)
    os.replace(new, target)
