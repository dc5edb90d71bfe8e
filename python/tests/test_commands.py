"""Functions take the options of their commands, with the same defaults."""
import inspect

import pytest

import wattle as wt

#: Options that are a method, an argument of another kind, or of a terminal.
LEFT = {"teacher": {"output"}, "recover": {"output", "accept", "index", "map", "fold", "rope"}, "query": {"output", "oracle", "dim"},
        "compare": set(), "apply": {"output"}, "export": {"output", "as"}, "inspect": {"output", "plot"}, "serve_layer": set(),
        "train": {"output", "plot"}, "threshold": {"plot"}, "search": {"task"}, "construct": {"output", "function"}, "bound": set(),
        "report": set(), "reproduce": {"output"}}
#: A default that is another where there are data or a model, so that it must be seen whether it was given.
WIDE = {("bound", name) for name in ("dim", "keys", "heads", "n")} | {("reproduce", "seed")}


@pytest.mark.parametrize("name", sorted(LEFT))
def test_options_are_those_of_the_command(command, name):
    parameters = inspect.signature(getattr(wt, name)).parameters
    compared = 0
    described = command("help", name.replace("_", "-"))["options"]
    for option in described:
        if option["name"] in LEFT[name] or option["name"] == "device":  # wattle.settings.device
            continue
        keyword = option["name"].replace("-", "_")
        keyword = {"lambda": "penalty", "lambda_path": "penalty_path"}.get(keyword, keyword)
        assert keyword in parameters, keyword
        ours, theirs = parameters[keyword].default, option["default"]
        if (name, keyword) in WIDE:
            assert ours is None, keyword
        elif theirs is None:
            assert not ours or ours in ("own", "none", "refuse", -1), keyword  # a word of the table's for it
        elif isinstance(ours, bool):
            assert ours == (theirs == "yes"), keyword
        elif isinstance(ours, (int, float)):
            assert ours == float(theirs), keyword
        else:
            assert ours == theirs, keyword
        compared += 1
    assert compared >= len(described) - len(LEFT[name]) - 1
    assert {"threads", "memory"} <= set(parameters)
