"""Replay for Spack: put this file into packages/replay of a repository, and what make dist has made beside where spack is called."""

import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Replay(MakefilePackage):
    """Finds out where the ranks of an MPI program waited for each other, and why."""

    manual_download = True

    license("MIT OR Apache-2.0")

    version("0.1.0", url=f"file://{os.getcwd()}/replay-0.1.0.tar.xz")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("rust@1.88:", type="build")

    build_targets = ["build-for-packages", "CARGO_FLAGS=--offline --locked"]

    @property
    def install_targets(self):
        return ["install", f"PREFIX={self.prefix}"]

    def setup_run_environment(self, env):
        env.set("REPLAY_ROOT", self.prefix)
        env.prepend_path("PYTHONPATH", self.prefix.include.replay)
