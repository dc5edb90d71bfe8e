"""Networks on sparse Boolean functions: training, and what a trained network says."""
from __future__ import annotations

import os
import tempfile
import threading
from ctypes import byref, c_bool, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _errors
from ._arrays import Array, Owned, address, numbers, view
from ._context import Bytes, FilePath, Seconds, flag, path_bytes, read_seed, real, session, whole
from ._fields import differs, fill, options, sized, table
from ._library import lib
from ._native import wt_network_result, wt_train_measure, wt_train_result, wt_train_spec
from ._plots import figure, legend
from ._result import Result, values
from ._table import Table

#: Of samples that are drawn; they mean nothing to samples of one's own.
OF_TASKS = ("length", "relevant", "probability", "noise", "keep_ambiguous", "samples", "online", "test_samples",
            "validation_samples")


FEW = 1 << 15  # bits that are answered at once


def bits_of(work: session, bits: Any, y: Any = None) -> Owned:
    """Samples: bits (n, T) and labels (n), all 0 or 1, or all -1 or 1; without y, 0."""
    array = numbers(bits, "bits", ("n", "T"))
    labels = None if y is None else numbers(y, "y", (len(array),))
    out = c_void_p()
    work.quick(lib.wt_bits_new_from, *array.shape, address(array), address(labels), byref(out))
    return Owned(out.value, lib.wt_bits_free)


def bits_from_file(work: session, path: FilePath) -> Owned:
    out = c_void_p()
    work(lib.wt_bits_load, path_bytes(path), byref(out))
    return Owned(out.value, lib.wt_bits_free)


def is_file(value: Any) -> bool:
    return isinstance(value, os.PathLike) or (isinstance(value, str) and value.endswith(".npz"))


def labelled(work: session, bits: Any, y: Any, name: str) -> Owned:
    """Samples with labels: a file, (bits, y) in one, or bits and y."""
    if is_file(bits):
        if y is not None:
            raise _errors.UsageError(f"{name}: a file has labels of its own; leave out y")
        return bits_from_file(work, bits)
    if y is None and isinstance(bits, tuple) and len(bits) == 2:
        bits, y = bits
    if y is None:
        raise _errors.UsageError(f"{name}: samples need their labels: give y too")
    return bits_of(work, bits, y)


def positions(work: session, relevant: Optional[Sequence[int]]) -> Tuple[Optional[int], int]:
    """A list of positions as a C array, which the session keeps."""
    if relevant is None:
        return None, 0
    array = np.array([whole(value, "relevant", 0) for value in relevant], dtype=np.uintp)
    work.keep.append(array)
    return address(array), len(array)


class Attention(Result):
    """Where the [CLS] row looks, a mean over samples: mean and best (T + 1), of all heads and of the best one.

    mass and best_mass are what lies on the relevant bits, NaN on samples of one's own; best_positions
    are the five bits that the best head looks at most.
    """

    mass: float
    best_mass: float
    best_head: int
    mean: Array
    best: Array
    best_positions: "np.ndarray[Any, Any]"


class Answers(Result):
    """What a network says to samples: probability (n) of label 1; accuracy and loss where there are labels."""

    kind: str
    samples: int
    length: int
    accuracy: float
    loss: float
    probability: Array


class Network(Result):
    """A network, and what its training reported.

    kind, length, dim, heads and hidden are always there; of a training also task, relevant, success,
    runs, success_step, steps, best_accuracy, train_loss, test_loss, gap, attention, norms, history and
    the other keys of `wattle train --json`.
    """

    kind: str
    length: int
    dim: int
    heads: int
    hidden: int
    success: bool
    best_accuracy: float
    attention: Optional[Attention]
    history: Table
    norms: Table
    _network: Owned
    _parameters: Owned
    _content: bytes
    _lock: threading.Lock

    def __init__(self, path: FilePath, **report: Any) -> None:
        """A network of a file, as the command writes it."""
        network, parameters = c_void_p(), c_void_p()
        with session() as work:
            work(lib.wt_network_load, path_bytes(path), byref(network), byref(parameters))
        owned = Owned(network.value, lib.wt_network_free)
        spec = lib.wt_network_get_spec(owned.handle).contents
        super().__init__(**values(spec, "kind", "length", "dim", "heads", "hidden"), **report, _network=owned,
                         _parameters=Owned(parameters.value, lib.wt_release), _content=Path(path).read_bytes(),
                         _lock=threading.Lock())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this network has no {name!r}" + (
            _errors.hint(name, dir(self)) or ": a report belongs to the training that made it"))

    @classmethod
    def load(cls, path: FilePath) -> "Network":
        """Reads a network that was saved here or by the command."""
        return cls(path)

    def save(self, path: FilePath) -> None:
        """Writes a .safetensors file, which load() and the command read."""
        out = c_void_p()
        with session() as work:
            work(lib.wt_output_open, path_bytes(path), byref(out))
            output = Owned(out.value, lib.wt_output_free)
            work.check(lib.wt_output_write(output.handle, self._content, len(self._content)))
            work.check(lib.wt_output_commit(output.handle))

    def _ask(self, work: session, function: Any, bits: Owned, *out: Any) -> None:
        if lib.wt_bits_length(bits.handle) != self.length:
            raise _errors.DataError(f"bits: samples of {lib.wt_bits_length(bits.handle)} bits do not fit a network "
                                    f"of {self.length}")
        call: Callable[..., None] = work.quick if lib.wt_bits_samples(bits.handle) * self.length <= FEW else work.__call__
        with self._lock:  # a network has working memory
            call(function, self._network.handle, self._parameters.handle, bits.handle, *out)

    def probabilities(self, bits: Any, *, threads: Optional[int] = None, memory: Bytes = None) -> Array:
        """P(y = 1) of every sample: bits (n, T), all 0 or 1, or all -1 or 1."""
        with session(threads, memory) as work:
            return self._answers(work, bits_of(work, bits))

    def _answers(self, work: session, samples: Owned) -> Array:
        out = np.empty(lib.wt_bits_samples(samples.handle), dtype=np.float32)
        self._ask(work, lib.wt_network_predict, samples, address(out))
        return out.astype(np.float64)

    def predict(self, bits: Any, *, threads: Optional[int] = None, memory: Bytes = None) -> "np.ndarray[Any, Any]":
        """The likelier label of every sample, 0 or 1."""
        return (self.probabilities(bits, threads=threads, memory=memory) > 0.5).astype(np.int64)

    def attention_weights(self, bits: Any, *, threads: Optional[int] = None,
                          memory: Bytes = None) -> "np.ndarray[Any, Any]":
        """Where the [CLS] row of every head looks, (n, heads, T + 1), [CLS] last."""
        with session(threads, memory) as work:
            samples = bits_of(work, bits)
            shape = lib.wt_bits_samples(samples.handle), max(self.heads, 1), self.length + 1
            out = np.empty(shape, dtype=np.float32)
            self._ask(work, lib.wt_network_attention, samples, address(out))
        return out

    def apply(self, bits: Any, y: Any = None, *, threads: Optional[int] = None, memory: Bytes = None) -> Answers:
        """Answers on samples, or on a file of them, judged where there are labels: `wattle apply`."""
        judged = c_bool(y is not None)
        with session(threads, memory) as work:
            if is_file(bits):
                out = c_void_p()
                work(lib.wt_bits_load_inputs, path_bytes(bits), byref(judged), byref(out))
                samples = Owned(out.value, lib.wt_bits_free)
            else:
                samples = bits_of(work, bits, y)
            answers, result = self._answers(work, samples), sized(wt_network_result)
            if judged.value:
                self._ask(work, lib.wt_network_evaluate, samples, c_size_t(-1).value, byref(result))
        nan = float("nan")
        return Answers(kind=self.kind, samples=len(answers), length=self.length,
                       accuracy=result.correct / len(answers) if judged.value else nan,
                       loss=result.loss if judged.value else nan, probability=answers)

    def plot(self, ax: Any = None) -> Any:
        """Loss and accuracy against steps, and where the [CLS] row looks; `ax` takes the accuracies alone."""
        if ax is not None:
            self._accuracies(ax)
            return ax
        looks = self.attention
        count = 2 if looks is None else 3
        panels = figure(3.5 * count, 3.2).subplots(1, count)
        self._losses(panels[0])
        self._accuracies(panels[1])
        if looks is not None:
            self._looks(panels[2], looks)
        return panels

    def _runs(self) -> List[Tuple[str, Any]]:
        """A name and the rows of each run."""
        found = np.unique(self.history.run)
        return [("" if len(found) == 1 else f"run {run + 1}", self.history.run == run) for run in found]

    def _losses(self, ax: Any) -> None:
        for name, rows in self._runs():
            ax.plot(self.history.step[rows], self.history.loss[rows], label=name)
        ax.axhline(np.log(2), color="0.6", linewidth=0.8, linestyle=":")
        ax.text(0.99, np.log(2), "guessing", color="0.4", ha="right", va="bottom", fontsize="small",
                transform=ax.get_yaxis_transform())
        ax.set(xlabel="step", ylabel="training loss (cross-entropy)", ylim=(0, 1.1 * max(np.log(2), self.history.loss.max(initial=0))))
        if len(self._runs()) > 1:
            legend(ax)

    def _accuracies(self, ax: Any) -> None:
        for name, rows in self._runs():
            lead = f"{name}, " if name else ""
            line, = ax.plot(self.history.step[rows], self.history.validation_accuracy[rows], label=f"{lead}validation")
            ax.plot(self.history.step[rows], self.history.train_accuracy[rows], label=f"{lead}training",
                    color=line.get_color(), linewidth=1, alpha=0.55, linestyle="--")
        low, high = ax.get_ylim()
        ax.set(xlabel="step", ylabel="accuracy", ylim=(low, max(high, 1 + 0.03 * (1 - low))))
        ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= 1])
        legend(ax)

    def _looks(self, ax: Any, looks: Attention) -> None:
        if self.heads > 1:
            ax.plot(looks.mean, color="0.6", linewidth=1, label="all heads")
        ax.plot(looks.best, color="C2", linewidth=1, label=f"head {looks.best_head}" if self.heads > 1 else "head")
        if self.relevant is not None:
            ax.plot(self.relevant, looks.best[self.relevant], "o", color="C1", markersize=5, label="relevant bits")
        ax.set(xlabel="position", ylabel="mean attention weight", ylim=(0, 1.2 * looks.best.max()))
        legend(ax, loc="upper center", ncols=3, columnspacing=1.2, handlelength=1.2)  # where no line is

    def __reduce__(self) -> Tuple[Any, ...]:
        return _network_again, (self._content, {name: value for name, value in self._items()})


def _network_again(content: bytes, report: Dict[str, Any]) -> Network:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.safetensors"
        path.write_bytes(content)
        network = Network(path)
    network.__dict__.update(report)
    return network


# ---- training -------------------------------------------------------------------------------------


def refuse_meaningless(given: Mapping[str, Any]) -> None:
    """Options of one kind of network must not be lost on another."""
    for keyword, field in table("wt_train_fields").items():
        only = field.pointer.contents.only
        if only is not None and differs(given.get(keyword), field.default) and \
                str(given["model"]) not in only.decode().split():
            raise _errors.UsageError(f"{keyword} means nothing to model={given['model']!r}")


def _attention(measure: wt_train_measure) -> Optional[Attention]:
    if measure.heads == 0:
        return None
    both = np.array(view(measure.attention, (2, measure.positions), None))
    looks = np.argsort(-both[1, :-1], kind="stable")[:5]
    return Attention(**values(measure, "mass", "best_mass", "best_head"), mean=both[0], best=both[1],
                     best_positions=looks)


def _history(trainer: Owned) -> Table:
    count = c_size_t()
    points = lib.wt_trainer_history(trainer.handle, byref(count))
    names = "run", "step", "loss", "train_accuracy", "validation_accuracy"
    return Table.of(names, [[getattr(points[i], name) for name in names] for i in range(count.value)])


def _norms(measure: wt_train_measure) -> Table:
    names = "rows", "columns", "spectral", "frobenius", "two_one"
    return Table.of(("matrix", *names), [[measure.norms[i].name.decode(), *(getattr(measure.norms[i], name) for name in names)]
                                         for i in range(measure.norm_count)])


class _Trial:
    """What the arguments of a training describe."""

    def __init__(self, work: session, given: Dict[str, Any]) -> None:
        self.work, self.given = work, given
        self.own = given["y"] is not None or not isinstance(given["task"], str) or is_file(given["task"])
        refuse_meaningless(given)
        self.check_source()
        self.spec = fill(work, "wt_train_fields", wt_train_spec, {**given, "task": "and:3"} if self.own else given)
        self.spec.seed = read_seed(given["seed"])
        self.spec.relevant, self.spec.relevant_count = positions(work, given["relevant"])
        self.trainer = self.on_samples() if self.own else self.on_task()

    def check_source(self) -> None:
        given = self.given
        self.every = whole(given["checkpoint_every"], "checkpoint_every")
        self.tests = whole(given["test_samples"], "test_samples", 2)
        self.resume = flag(given["resume"], "resume")
        if self.resume and given["checkpoint"] is None:
            raise _errors.UsageError("resume needs checkpoint=FILE")
        if differs(given["online"], 0) and differs(given["samples"], 100):
            raise _errors.UsageError("samples and online exclude each other")
        usual = {"relevant": None, "test_samples": 10000}
        usual.update({name: table("wt_train_fields")[name].default for name in OF_TASKS if name not in usual})
        for name in OF_TASKS if self.own else ():
            if differs(given[name], usual[name]):
                raise _errors.UsageError(f"samples of one's own and {name} exclude each other")
        if not self.own and (given["validation"] is not None or differs(given["holdout"], 0.2)):
            raise _errors.UsageError("holdout and validation go with samples of one's own")
        if given["validation"] is not None and differs(given["holdout"], 0.2):
            raise _errors.UsageError("validation and holdout exclude each other")

    def on_task(self) -> Owned:
        out = c_void_p()
        self.work(lib.wt_trainer_new, byref(self.spec), byref(out))
        self.length, self.samples = self.spec.length, 0 if self.spec.online else self.spec.samples
        return Owned(out.value, lib.wt_trainer_free)

    def on_samples(self) -> Owned:
        work, given, out = self.work, self.given, c_void_p()
        learn = labelled(work, given["task"], given["y"], "bits")
        if given["validation"] is not None:
            held = labelled(work, given["validation"], None, "validation")
        else:
            others, judges = c_void_p(), c_void_p()
            work(lib.wt_bits_split, learn.handle, real(given["holdout"], "holdout"), self.spec.seed, byref(others), byref(judges))
            learn, held = Owned(others.value, lib.wt_bits_free), Owned(judges.value, lib.wt_bits_free)
        work(lib.wt_trainer_new_on, byref(self.spec), learn.handle, held.handle, byref(out))
        self.length, self.samples = lib.wt_bits_length(learn.handle), lib.wt_bits_samples(learn.handle)
        return Owned(out.value, lib.wt_trainer_free)

    def run(self) -> Network:
        work, given, handle = self.work, self.given, self.trainer.handle
        kept = None if given["checkpoint"] is None else path_bytes(given["checkpoint"], "checkpoint")
        lib.wt_trainer_remark_balance(work.handle, handle)
        work(lib.wt_trainer_run_kept, handle, kept, self.every, self.resume)
        lib.wt_context_resume(work.handle)  # where its time is over
        result, measure = sized(wt_train_result), sized(wt_train_measure)
        work(lib.wt_trainer_result, handle, byref(result))
        work(lib.wt_trainer_measure, handle, self.tests, byref(measure))
        try:
            report = {**self.setting(), **self.numbers(result, measure)}
        finally:
            lib.wt_train_measure_free(byref(measure))
        self.warn(result)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.safetensors"
            work(lib.wt_trainer_save_model, handle, os.fsencode(path))
            return Network(path, **report)

    def setting(self) -> Dict[str, Any]:
        """The task, as the command tells it; None and NaN on samples of one's own."""
        out: Dict[str, Any] = {"model": str(self.given["model"]), "samples": self.samples, "online": self.spec.online,
                               "seed": self.spec.seed, "task": None, "relevant": None, "probability": float("nan"),
                               "label_probability": float("nan")}
        task = lib.wt_trainer_task(self.trainer.handle)
        if task is not None:
            function, p = lib.wt_sparse_task_function(task), lib.wt_sparse_task_probability(task)
            places = view(lib.wt_sparse_task_relevant(task), (lib.wt_boolean_bits(function),), None, "<u8")
            out.update(task=str(self.given["task"]), relevant=places.astype(np.int64), probability=p,
                       label_probability=lib.wt_boolean_mean(function, p))
        return out

    def numbers(self, result: wt_train_result, measure: wt_train_measure) -> Dict[str, Any]:
        return {**values(result, "success", "runs", "success_step", "mark_step", "leave_step", "low_step", "steps",
                         "best_accuracy", "loss"), "batch_accuracy": result.train_accuracy, "redrawn": result.redrawn,
                **values(measure, "train_loss", "train_accuracy", "test_loss", "test_accuracy", "gap", "gap_low",
                         "gap_high"), "seconds": result.seconds, "attention": _attention(measure),
                "norms": _norms(measure), "history": _history(self.trainer)}

    def warn(self, result: wt_train_result) -> None:
        ended = lib.wt_trainer_ended(self.trainer.handle)
        if result.success or (self.spec.to_end and ended):
            return
        _errors.warn(f"{'' if ended else 'the time is over: '}no validation passed {self.spec.success:g}: the best "
                     f"accuracy of {result.runs} run{'' if result.runs == 1 else 's'} was {result.best_accuracy:.4f}",
                     _errors.MissedWarning)


@options("wt_train_fields")
def train(
    task: Any = "and:3",
    y: Any = None,
    *,
    length: int = 300,
    samples: int = 100,
    probability: float = 0,
    noise: float = 0,
    keep_ambiguous: bool = False,
    model: str = "transformer",
    dim: int = 64,
    heads: int = 16,
    hidden: int = 0,
    activation: str = "own",
    fixed_positions: bool = False,
    dropout: float = -1,
    embedding_dropout: float = -1,
    attention_dropout: float = -1,
    block_dropout: float = -1,
    lr: float = 0.001,
    weight_decay: float = 0.0001,
    decoupled: bool = False,
    clip: float = 1,
    ball: str = "none",
    init_scale: float = 1,
    steps: int = 1000,
    validate: int = 10,
    validation_samples: int = 10000,
    success: float = 0.99,
    restarts: int = 1,
    online: int = 0,
    to_end: bool = False,
    loss_mark: float = 0.35,
    settle: float = 0,
    relevant: Optional[Sequence[int]] = None,
    holdout: float = 0.2,
    validation: Any = None,
    test_samples: int = 10000,
    checkpoint: Optional[FilePath] = None,
    checkpoint_every: int = 100,
    resume: bool = False,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Network:
    """Trains an attention network on a sparse Boolean function: `wattle train`.

    Of a task it learns a function of a few bits among `length`, at positions that are drawn or
    `relevant`. train(bits, y), or train("data.npz"), learns from samples of one's own, bits (n, T) and
    y (n), each all 0 or 1, or all -1 or 1; the part `holdout` of them, or validation=(bits, y), judges.
    Without success it is a MissedWarning, and success is False.

    With checkpoint= the state is kept in a file every `checkpoint_every` steps, at the end and at
    Ctrl-C, and the same call with resume=True goes on, with the bits of a training that was never
    stopped.

    >>> import wattle as wt
    >>> net = wt.train("and:2", length=8, samples=60, dim=8, heads=2, lr=0.01, validation_samples=500, seed=1)
    >>> net.success, net.relevant.shape, net.predict([[0] * 8, [1] * 8])
    (True, (2,), array([0, 1]))
    """
    given = locals()
    with session(threads, memory, time) as work:
        return _Trial(work, given).run()
