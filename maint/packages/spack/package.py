# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack 1: put it into packages/libabt/ of a repository.

The checksum is that of the released archive.
"""

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import depends_on, license, variant, version


class Libabt(AutotoolsPackage):
    """Lightweight threads for people who write runtimes, by the interface of Argobots."""

    homepage = "https://libabt.invalid/"
    url = "https://libabt.invalid/releases/libabt-2.0.0.tar.xz"
    git = "https://libabt.invalid/libabt.git"

    license("BSD-3-Clause")

    version("2.0.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("affinity", default=False, description="bind execution streams to CPUs by default")
    variant("debug", default=False, description="check preconditions and the order of locks")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python", type="build")

    def configure_args(self):
        debug = ["--enable-debug=ub_assert"] if self.spec.satisfies("+debug") else []
        return self.enable_or_disable("affinity") + debug
