"""Builds the package. Where the source tree's library is built, or WATTLE_LIBRARY names one, it goes in
beside the modules; else the package uses the system's."""
import os
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:  # setuptools has taken it over
    from setuptools.command.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
VERSION = dict(re.findall(r"^WT_VERSION_(MAJOR|MINOR|PATCH) = (\d+)$", (HERE / "wattle/_native.py").read_text(), re.M))
NAME = f"libwattle.so.{VERSION['MAJOR']}"
LIBRARY = Path(os.environ.get("WATTLE_LIBRARY") or HERE.parent / "build" / "release" / NAME)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if LIBRARY.exists():
            shutil.copyfile(LIBRARY, Path(self.build_lib) / "wattle" / NAME)


class Wheel(bdist_wheel):
    """With the library it is of this kind of machine, but of any Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not LIBRARY.exists()

    def get_tag(self):
        python, abi, platform = super().get_tag()
        return ("py3", "none", platform)


setup(version="{MAJOR}.{MINOR}.{PATCH}".format(**VERSION), cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": Wheel})
