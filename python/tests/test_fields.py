"""Signatures of functions are those of the library's tables, and values reach the structs."""
import ctypes
import inspect

import numpy as np
import pytest

import wattle as wt
from wattle import _fields, _native
from wattle._context import session


@pytest.mark.parametrize("function,tables,renamed,without", _fields.described, ids=lambda v: getattr(v, "__name__", ""))
def test_names_and_defaults_are_those_of_the_command(function, tables, renamed, without):
    parameters = inspect.signature(function).parameters
    for name in tables:
        for keyword, field in _fields.table(name).items():
            own = renamed.get(keyword, keyword)
            if keyword in without:  # not there, or with a meaning of the function's own
                continue
            assert own in parameters, f"{function.__name__} lacks {own}:\n{_fields.signature(name)}"
            default = parameters[own].default
            if default is not inspect.Parameter.empty and field.default is not None:
                assert default == field.default, own
            assert f"{own}: " in function.__doc__


def test_values_reach_the_struct():
    with session() as work:
        given = dict(model="brfa", heads=np.int64(7), bias=np.float32(0.5), activation="softmax")
        spec = _fields.fill(work, "wt_model_fields", _native.wt_model_spec, given)
    assert (spec.kind, spec.heads, spec.bias, spec.activation) == (1, 7, 0.5, 1)
    assert spec.size == ctypes.sizeof(spec)


@pytest.mark.parametrize("value,text", [(3, "3"), (1e-3, "0.001"), (2.0, "2"), (True, "yes"), ("16:64:x2", "16:64:x2"),
                                        ([1, 2.5], "1,2.5"), (np.array([16, 32]), "16,32"), (range(1, 4), "1,2,3"),
                                        (("rfa", "brfa"), "rfa,brfa"), (0.1 + 0.2, "0.30000000000000004")])
def test_values_are_spelled_as_in_a_command(value, text):
    assert _fields.spell(value, "x") == text


@pytest.mark.parametrize("keywords,words", [(dict(heads=0), "heads: must be a whole number of 1 or more, not 0"),
                                            (dict(heads=2.5), "heads: must be a whole number of 1 or more, not 2.5"),
                                            (dict(model="rfb"), "model: 'rfb' is none of rfa"),
                                            (dict(penalty=-1), "penalty: must be 0 or more, not -1"),
                                            (dict(noise=float("nan")), "noise"), (dict(heads=[1, 2]), "heads: '1,2'")])
def test_bad_values_are_told_by_keyword(keywords, words):
    with pytest.raises(wt.UsageError) as caught:
        wt.fit(target="mean-power:2", n=10, **keywords)
    assert words in str(caught.value)


def test_an_object_that_is_no_value():
    with pytest.raises(TypeError, match="heads: a number, a word or a list"):
        wt.fit(target="mean-power:2", n=10, heads=object())


@pytest.mark.parametrize("call,words", [
    (lambda: wt.fit(target="mean-power:2", head=10), r"fit\(\) has no option head: is it heads\?"),
    (lambda: wt.fit(**{"lambda": 1}), "no option lambda: is it penalty"),
    (lambda: wt.curve(model="rfa"), "no option model: is it models"),
    (lambda: wt.fit(**{"token-scale": 1}), "no option token-scale: is it token_scale"),
    (lambda: wt.draw("mean-power:2", zzz=1), r"draw\(\) has no option zzz$")])
def test_the_nearest_name_of_an_unknown_keyword_is_told(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_a_type_error_of_the_values_stays_as_it_is():
    with pytest.raises(TypeError, match="query: real numbers"):
        wt.fit((["a"], np.ones((1, 1, 1))))


def test_numbers_in_arrays_without_a_shape_are_numbers():
    assert _fields.spell(np.array(1e-3), "penalty") == _fields.spell(np.float64(1e-3), "penalty") == "0.001"
    assert _fields.spell(np.array(7), "heads") == "7" and _fields.spell(np.array([1, 2]), "n") == "1,2"
