# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Conan 2: `conan create .` beside an unpacked distribution in src/."""

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, rm, rmdir
from conan.tools.gnu import Autotools, AutotoolsToolchain
from conan.tools.layout import basic_layout


class LibabtRecipe(ConanFile):
    name = "libabt"
    version = "2.0.0"
    description = "Lightweight threads for people who write runtimes, by the interface of Argobots"
    license = "BSD-3-Clause"
    homepage = "https://libabt.invalid/"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": True, "fPIC": True}
    exports_sources = "src/*"

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("libabt runs on Linux only")

    def layout(self):
        basic_layout(self, src_folder="src")

    def generate(self):
        AutotoolsToolchain(self).generate()

    def build(self):
        autotools = Autotools(self)
        autotools.configure()
        autotools.make()

    def package(self):
        Autotools(self).install()
        copy(self, "COPYRIGHT", self.source_folder, f"{self.package_folder}/licenses")
        rm(self, "*.la", self.package_folder, recursive=True)
        rmdir(self, f"{self.package_folder}/share")

    def package_info(self):
        for name, library, needs in (("abt", "abt", []), ("abtio", "abtio", ["abt"])):
            part = self.cpp_info.components[name]
            part.libs, part.requires = [library], needs
            part.system_libs = ["pthread", "m"]
        self.cpp_info.components["abt"].set_property("pkg_config_name", "argobots")
        self.cpp_info.components["abt"].set_property("cmake_target_name", "libabt::libabt")
        self.cpp_info.components["abtio"].set_property("pkg_config_name", "abtio")
