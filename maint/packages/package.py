# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack: put it into packages/libabt/ of a repository."""
from spack.package import *


class Libabt(AutotoolsPackage):
    """Lightweight threads for people who write runtimes, by the interface of Argobots."""

    homepage = "https://libabt.invalid/"
    license("BSD-3-Clause")

    version("2.0.0")

    provides("argobots@1.2")
    variant("affinity", default=False, description="bind execution streams to CPUs by default, by hwloc")
    variant("debug", default=False, description="check preconditions and the order of locks")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("hwloc", when="+affinity")

    def autoreconf(self, spec, prefix):
        Executable("./autogen.sh")()

    def configure_args(self):
        return [option for name, option in (("affinity", "--enable-affinity"), ("debug", "--enable-debug=ub_assert"))
                if f"+{name}" in self.spec]
