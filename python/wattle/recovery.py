"""A layer from its inputs and outputs: examples, questions, a module of torch."""
from __future__ import annotations

import json
from ctypes import byref, c_void_p, create_string_buffer
from typing import Any, Callable, Dict, Optional, Union

import numpy as np

from . import _errors, _native
from ._arrays import Array, Owned, as_array, numbers, spell, view
from ._context import INTERRUPTED, Bytes, FilePath, Seconds, encode, flag, read_seed, real, session, whole
from ._fields import fill, options, sized, start
from ._library import lib
from ._native import (wt_certificate_options, wt_certificate_result, wt_query_options, wt_query_report,
                      wt_recover_options, wt_recover_report, wt_sculpt_report, wt_status)
from ._result import Result, values
from .layers import Comparison, Layer, as_layer, compare
from .sequences import Data, Sequences, as_sequences
from .teachers import draw_sequences

MISSED = int(wt_status.WT_MISSED)


class Stages(Result):
    """What sculpt did, stage by stage: stage, crude_explained, .., eigen_gap, hull_error, start_error."""

    stage: str


class Certificate(Result):
    """The widths of the body of all Theta that agree with the rows: rows, slabs, eta, directions,
    median_half_width, largest_half_width, frobenius_factor, teacher_heads, teacher_inside.
    """


def _heads(heads: Union[int, str], most: int) -> int:
    """A number, or "auto", which the library calls 0."""
    return 0 if heads == "auto" else whole(heads, "heads", 1, most)


# ---- examples -------------------------------------------------------------------------------------


@options("wt_recover_fields")
def recover(
    data: Data,
    y: Any = None,
    *,
    heads: Union[int, str] = "auto",
    method: str = "auto",
    restarts: int = 20,
    steps: int = 0,
    holdout: float = 0.2,
    goal: float = 1e-9,
    bias: bool = False,
    mask: str = "none",
    residual: bool = False,
    norm: str = "none",
    epsilon: float = 1e-5,
    rank: int = 0,
    groups: int = 0,
    form: str = "given",
    matrix_free: bool = False,
    rows: str = "all",
    missing: str = "no",
    lengths: Any = None,
    certificate: bool = False,
    directions: Union[int, str] = 64,
    part: float = 0.02,
    teacher: Union[Layer, FilePath, None] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Layer:
    """Recovers an attention layer from sequences x (n, k, d) and outputs y (n, k, p): `wattle recover`.

    The data are x with y, Sequences, or a file of them. heads="auto": as many as the held-out error asks
    for. rows="last": y (n, p) has the rows of last tokens; missing="nan": rows of y with a NaN are not
    known; lengths (n): tokens that count, where not all do.

    The layer is the best that was found, and its report says what it is worth: verdict, recovered, exact,
    reason, train_error, holdout_error, warnings (what cannot be identified), device and the other keys of --json. One
    that is not recovered comes with a MissedWarning. certificate=True adds the widths of the body of all
    Theta that agree with the rows; directions, part: as in the command. teacher: the true layer, where it is
    known, for the stages of sculpt and the certificate; the recovery does not look at it.

    >>> import wattle as wt
    >>> true = wt.teacher(heads=2, dim=4, seed=1)
    >>> data = true.draw(n=100, tokens="gaussian")
    >>> layer = wt.recover(data.x, data.y)
    >>> layer.verdict, layer.heads, wt.compare(true, layer).theta_error < 1e-9
    ('exact', 2, True)
    """
    given = locals()
    sequences = as_sequences(data, y, rows=rows, missing=missing, lengths=lengths)
    truth = None if teacher is None else as_layer(teacher, "teacher", heads=_heads(heads, 4096))
    report, stages, out = sized(wt_recover_report), sized(wt_sculpt_report), c_void_p()
    found: Dict[str, Any] = {}
    with session(threads, memory, time) as work:
        how = fill(work, "wt_recover_fields", wt_recover_options, given)
        how.heads, how.matrix_free, how.seed = _heads(heads, 4096), flag(matrix_free, "matrix_free"), read_seed(seed)
        how.teacher = None if truth is None else truth._layer.handle
        status = work.status(lib.wt_layer_recover, sequences._sequences.handle, byref(how), byref(out), byref(report),
                             byref(stages))
        if stages.stage != _native.wt_sculpt_stage.WT_SCULPT_STAGE_NONE:
            found["sculpt"] = Stages(**_read(lib.wt_sculpt_json, stages))
        if status == MISSED:
            error = _errors.Missed(work.context.message())
            error.__dict__.update(found)
            raise error
        work.check(status)
        owned = Owned(out.value, lib.wt_layer_free)
        if certificate and report.recovered:
            found["certificate"] = _certify(work, sequences, owned, directions, part, seed, truth)
        found["device"] = lib.wt_context_device(work.handle).decode()
    layer = Layer._of(owned, **_report(report), **found)
    if not layer.recovered:
        which, error_ = ("train", layer.train_error) if np.isnan(layer.holdout_error) else ("held-out", layer.holdout_error)
        _errors.warn(f"the layer was not recovered ({layer.verdict}): {layer.reason}; {which} error {error_:.3g} after "
                     f"{layer.starts} starts", _errors.MissedWarning)
    return layer


def _report(report: wt_recover_report) -> Dict[str, Any]:
    out = values(report, "method", "recovered", "exact", "heads", "start", "start_from", "starts", "steps", "products",
                 "flops", "train_error", "holdout_error", "condition", "examples", "least_examples", "seconds", "goal",
                 "misfit_chance", "misfit_kind", "misfit_part", "misfit_visible", "rank", "form", "forms", "out_of_time")
    out["verdict"] = lib.wt_recover_verdict_name(report.verdict).decode()
    out["reason"] = report.reason.decode() or None
    out["warnings"] = [report.warning[i].value.decode() for i in range(report.warnings)]
    return out


def _read(printer: Callable[..., int], struct: Any) -> Dict[str, Any]:
    """What the library writes as an object of JSON."""
    text = create_string_buffer(4096)
    printer(byref(struct), text, len(text))
    out: Dict[str, Any] = json.loads(text.value)
    return out


def _certify(work: session, data: Sequences, layer: Owned, directions: Union[int, str], part: float, seed: int,
             truth: Optional[Layer]) -> Optional[Certificate]:
    """The certificate, or a warning and None."""
    how, result = start(wt_certificate_options, lib.wt_certificate_options_init), sized(wt_certificate_result)
    how.directions = 0 if directions == "all" else whole(directions, "directions", 1, 1000000)
    how.part, how.seed = real(part, "part"), read_seed(seed)
    how.teacher = None if truth is None else truth._layer.handle
    status = work.status(lib.wt_certificate_compute, data._sequences.handle, layer.handle, byref(how), byref(result))
    if status == MISSED or (status == INTERRUPTED and lib.wt_context_out_of_time(work.handle)):
        _errors.warn(f"no certificate: {work.context.message()}", _errors.MissedWarning)
        return None
    work.check(status)
    return Certificate(**_read(lib.wt_certificate_json, result))


# ---- questions ------------------------------------------------------------------------------------

Oracle = Union[Callable[[Array], Any], str]


class _Asker:
    """A callable as the library asks it: the last output row for tokens (k, d)."""

    def __init__(self, oracle: Callable[[Array], Any], dim: int) -> None:
        self.oracle, self.dim, self.asked = oracle, dim, 0
        self.unit = np.zeros((1, dim))
        self.unit[0, 0] = 1
        self.first = self.row(self.unit.copy())  # which tells the number of outputs, and is not asked twice

    def row(self, x: Array) -> Array:
        k = len(x)
        self.asked += 1
        answer = numbers(self.oracle(x), f"the answer to question {self.asked}")
        if answer.ndim == 0:
            answer = answer.reshape(1)
        if answer.ndim == 3 and len(answer) == 1:
            answer = answer[0]
        if answer.ndim == 2 and len(answer) == k:
            answer = answer[-1]
        if answer.ndim != 1 or (self.asked > 1 and answer.shape != self.first.shape) or answer.size == 0:
            p: Union[int, str] = "p" if self.asked == 1 else len(self.first)
            raise _errors.DataError(f"the answer to question {self.asked}, of {k} tokens, has the shape "
                                    f"{spell(answer.shape)}, neither {spell((p,))} nor {spell((k, p))}")
        if not np.isfinite(answer).all():
            raise _errors.DataError(f"the answer to question {self.asked} is not finite")
        return answer

    def answer(self, k: int, x: int, y: int) -> None:
        question = view(x, (k, self.dim), None).copy()
        again = k == 1 and np.array_equal(question, self.unit)
        view(y, self.first.shape, None)[...] = self.first if again else self.row(question)


@options("wt_query_fields")
def query(
    oracle: Oracle,
    dim: int,
    *,
    heads: Union[int, str] = "auto",
    check: int = 8,
    restarts: int = 20,
    tolerance: float = 1e-11,
    questions: int = 0,
    bias: bool = False,
    mask: str = "none",
    residual: bool = False,
    norm: str = "none",
    epsilon: float = 1e-5,
    rank: int = 0,
    form: str = "given",
    timeout: float = 30,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Layer:
    """Learns an attention layer by asking: `wattle query`.

    The oracle is any callable that gives, for tokens x (k, d), the last row of F(x), (p,), or all of it,
    (k, p); float32 will do, a tensor too. An exception in it ends the call and is raised. Or it is a command
    that answers lines, as `wattle query --oracle` has it, each within timeout seconds.

    The report is that of the command: recovered (None where no fresh question checked it), queries,
    start_queries, polish_queries, check_queries, residual, check_error, tolerance and the other keys of
    --json. A layer that does not explain the answers comes with a MissedWarning.

    >>> import wattle as wt
    >>> true = wt.teacher(heads=1, dim=4, seed=1)
    >>> layer = wt.query(lambda x: true(x)[-1], dim=4)
    >>> layer.recovered, layer.queries, wt.compare(true, layer).theta_error < 1e-9
    (True, 28, True)
    """
    given = locals()
    report, out = sized(wt_query_report), c_void_p()
    dim = whole(dim, "dim", 1, _native.WT_QUERY_MAX_DIM)
    with session(threads, memory, time) as work:
        how = fill(work, "wt_query_fields", wt_query_options, given)
        how.heads, how.seed = _heads(heads, _native.WT_QUERY_MAX_HEADS), read_seed(seed)
        user: Any = None
        if isinstance(oracle, str):
            opened = c_void_p()
            seconds = real(timeout, "timeout")
            if not seconds > 0:
                raise _errors.UsageError(f"timeout: must be above 0, not {timeout!r}")
            work(lib.wt_oracle_open, encode(oracle, "oracle"), dim, seconds, byref(opened))
            program = Owned(opened.value, lib.wt_oracle_free)
            user, outputs = program.handle, lib.wt_oracle_outputs(program.handle)
            ask = _native.wt_query_ask_fn(lib.wt_oracle_ask)
        elif callable(oracle):
            asker = _Asker(oracle, dim)
            outputs = asker.first.size
            ask = _native.wt_query_ask_fn(work.guard(asker.answer))
        else:
            raise TypeError(f"oracle: a callable or a command is expected, not {type(oracle).__name__}")
        work(lib.wt_layer_query, ask, user, dim, outputs, byref(how), byref(out), byref(report))
    return _learned(Owned(out.value, lib.wt_layer_free), report)


def _learned(owned: Owned, report: wt_query_report) -> Layer:
    known = report.check_queries > 0 or not report.reached
    layer = Layer._of(
        owned, recovered=report.reached if known else None,
        queries=report.start_queries + report.polish_queries + report.check_queries,
        **values(report, "heads", "dim", "outputs", "start_queries", "polish_queries", "check_queries", "start_residual",
                 "residual", "check_error", "starts", "steps", "flops", "form", "forms", "tolerance", "out_of_questions",
                 "out_of_time"))
    if not report.reached:
        why = ("the time is over: " if report.out_of_time else
               "the questions are used up: " if report.out_of_questions else "")
        word = "head does" if report.heads == 1 else "heads do"
        worst = np.fmax(report.check_error, report.residual)
        _errors.warn(f"{why}{report.heads} {word} not explain the answers: relative error {worst:.3g}, not "
                     f"{report.tolerance:g}", _errors.MissedWarning)
    return layer


# ---- modules --------------------------------------------------------------------------------------


def _module_answers(module: Any, x: Array, mask: str) -> Any:
    """What a module of torch, or any callable on (n, k, d), makes of x; the rounded x first."""
    if not hasattr(module, "state_dict"):
        return x, module(x)
    import torch

    weights = next(iter(module.parameters()), None)
    kind = torch.float64 if weights is None else weights.dtype
    tokens = torch.tensor(x, dtype=kind, device=None if weights is None else weights.device)
    was_training = module.training
    module.eval()  # dropout would make every answer another
    try:
        with torch.no_grad():
            if isinstance(module, torch.nn.MultiheadAttention):
                order = tokens if module.batch_first else tokens.transpose(0, 1)
                k = x.shape[1]
                hidden = torch.ones(k, k, dtype=torch.bool, device=tokens.device).triu(1) if mask == "causal" else None
                y = module(order, order, order, need_weights=False, attn_mask=hidden)[0]
                y = y if module.batch_first else y.transpose(0, 1)
            else:
                y = module(tokens)
    finally:
        module.train(was_training)
    return as_array(tokens), y


def _own(module: Any, layer: Layer) -> Optional[Layer]:
    """The layer in the module's weights, with the mask and the residual connection of what was found."""
    if not hasattr(module, "state_dict"):
        return None
    try:
        own = Layer.of_module(module, fold=layer.norm != "none")
        return Layer(own.theta, own.w, own.u, own.c, mask=layer.mask, residual=layer.residual, norm=own.norm,
                     epsilon=own.epsilon)
    except (_errors.Error, TypeError):
        return None  # no names or shapes of an attention layer


def recover_module(
    module: Any,
    sequences: int = 500,
    *,
    dim: int = 0,
    length: int = 8,
    tokens: str = "gaussian",
    token_scale: float = 0,
    heads: Union[int, str, None] = None,
    bias: Optional[bool] = None,
    mask: str = "none",
    rank: Optional[int] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
    **how: Any,
) -> Layer:
    """Recovers the attention layer in a module from what it answers, and compares it with its weights.

    The module is a torch.nn.MultiheadAttention, or anything callable on tokens (n, k, d), a module of torch
    or not, that gives (n, k, p); the first of a tuple counts. So many sequences of `length` tokens are drawn,
    rounded to the module's own type, and asked in one call, without gradients or dropout. dim, heads, bias
    and rank are the module's own where it is a MultiheadAttention; elsewhere dim must be given, heads is "auto",
    bias False and rank 0. mask="causal" is told to a MultiheadAttention as well. All other options are those
    of recover().

    Where the weights can be read (Layer.of_module) the layer has `own`, the layer they are, and `comparison`,
    how far what was found is from it; elsewhere both are None.
    """
    attention = hasattr(module, "in_proj_weight") and hasattr(module, "embed_dim")
    if not callable(module):
        raise TypeError(f"module: a callable is expected, not {type(module).__name__}")
    if attention:
        dim = dim or int(module.embed_dim)
        heads = int(module.num_heads) if heads is None else heads
        bias = module.in_proj_bias is not None if bias is None else bias
        rank = int(module.head_dim) if rank is None else rank
    if dim == 0:
        raise _errors.UsageError("dim: this module does not tell the dimension of its tokens; give dim=")
    x = draw_sequences(whole(dim, "dim"), n=sequences, length=length, tokens=tokens, token_scale=token_scale, seed=seed,
                       threads=threads, memory=memory).x
    asked, answered = _module_answers(module, x, mask)
    y = numbers(answered[0] if isinstance(answered, tuple) else answered, "the module's answer", (len(x), length, "p"))
    layer = recover(asked, y, heads="auto" if heads is None else heads, bias=bool(bias), mask=mask, rank=rank or 0,
                    seed=seed, threads=threads, memory=memory, time=time, **how)
    own = _own(module, layer)
    comparison: Optional[Comparison] = None
    if own is not None and (own.dim, own.outputs) == (layer.dim, layer.outputs):
        comparison = compare(own, layer, seed=seed)
    layer.own, layer.comparison = own, comparison
    return layer
