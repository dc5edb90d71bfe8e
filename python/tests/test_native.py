"""The signatures are those of the headers: by the generator, and by a C compiler."""
import subprocess
import sys

from conftest import ROOT

SCRIPT = str(ROOT / "scripts" / "python-signatures")


def test_the_file_is_what_the_headers_say():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def compile(text):
    return subprocess.run(["gcc", "-std=c17", f"-I{ROOT}/include", "-Wall", "-Wextra", "-Wconversion",
                           "-Wsign-conversion", "-Werror", "-fsyntax-only", "-x", "c", "-"],
                          input=text, capture_output=True, text=True)


def test_sizes_offsets_and_arguments_are_those_of_a_compiler():
    text = subprocess.run([sys.executable, SCRIPT, "--probe"], capture_output=True, text=True, check=True).stdout
    assert text.count("_Static_assert") > 1000
    done = compile(text)
    assert done.returncode == 0, done.stderr[:2000]
    # the probe sees an argument of another width, a missing one, and a member that has moved
    for was, now in (("static size_t a1;", "static unsigned a1;"), ("(a0, a1)", "(a0)"),
                     ("offsetof(wt_progress, total) == 16", "offsetof(wt_progress, total) == 8")):
        assert was in text
        assert compile(text.replace(was, now, 1)).returncode != 0, was
