"""Looking at the query-key products of layers, head by head."""
from __future__ import annotations

import os
import tempfile
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _errors
from ._arrays import Array, Owned, view
from ._context import Bytes, FilePath, encode, flag, path_bytes, session, whole
from ._fields import sized, start
from ._library import lib
from ._native import wt_head_summary, wt_inspect_options
from ._plots import figure as new_figure
from ._result import Result, frame
from .layers import Layer, naturals

CROP = 40  # rows and columns shown of a large theta: a diagonal one can see
REACH = 24  # diagonals on either side
HEADS = 16  # in one picture
NUMBERS = ("diagonal_mean", "diagonal_spread", "off_mean", "off_spread", "standard_errors", "identity", "identity_share",
           "effective_rank", "spectral", "frobenius", "columns_21", "rows_21", "symmetric", "ov_effective_rank")


class Head(Result):
    """Numbers of a head: layer, head, dim, diagonal_mean and the other keys of `wattle inspect --json`."""

    layer: int
    head: int
    dim: int
    standard_errors: float
    effective_rank: float
    diagonal_mean: float
    off_mean: float
    off_spread: float
    singular: List[float]


class Inspection(Result):
    """The heads of a file: file, dim, head_count, heads, scheme, layers, stems, rope, folded, left_out (what its
    layers have beside theta and w, in words), and in how many the diagonal is positive: positive, positive_rate, positive_low, positive_high, above_two, below_two.
    """

    file: Optional[str]
    heads: List[Head]
    theta: Optional[Array]
    scheme: Optional[str]
    layers: int

    def frame(self) -> Any:
        """All numbers, a row a head: a pandas DataFrame where pandas is installed."""
        names = [name for name in self.heads[0].to_dict() if not name.endswith("singular")]
        columns: Dict[str, Any] = {name: [getattr(head, name) for head in self.heads] for name in names}
        for name in ("singular", "ov_singular"):
            for i in range(len(self.heads[0].singular)):
                columns[f"{name}_{i + 1}"] = [getattr(head, name)[i] for head in self.heads]
        return frame(columns)

    def _rows(self) -> List[Tuple[str, str]]:
        return [row for row in super()._rows() if row[0] != "theta" and row[1] != "-"]

    def plot(self, figure: Any = None) -> Any:
        """A figure of matplotlib's: of a layer every head's product and the means along its diagonals, of a
        checkpoint a grid of layers and heads. savefig("heads.pdf") of it is made for a paper.
        """
        draw, size = (_plot_grid, _grid_size) if self.theta is None else (_plot_heads, _heads_size)
        return draw(self, new_figure(*size(self)) if figure is None else figure)


def inspect(
    layer: Union[Layer, FilePath],
    *,
    layers: Union[int, Sequence[int], None] = None,
    only: Union[int, Sequence[int], None] = None,
    heads: int = 0,
    map: Optional[str] = None,
    fold: bool = False,
    threads: Optional[int] = None,
    memory: Bytes = None,
) -> Inspection:
    """What the query-key products of a layer, or of all layers of a checkpoint, look like: `wattle inspect`.

    layers: those of a checkpoint to look at; only: heads of each. heads, map, fold: as in Layer.load.

    >>> import numpy as np, wattle as wt
    >>> found = wt.inspect(wt.Layer(theta=np.eye(4)[None], w=np.eye(4)[None]))
    >>> found.positive, found.heads[0].identity_share
    (1, 1.0)
    """
    if isinstance(layer, Layer):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "layer.safetensors"
            layer.save(path)
            found = inspect(path, layers=layers, only=only, threads=threads, memory=memory)
        found.file = None
        return found
    how, out, summaries = start(wt_inspect_options, lib.wt_inspect_options_init), c_void_p(), []
    with session(threads, memory) as work:
        how.heads, how.fold = whole(heads, "heads", 0), flag(fold, "fold")
        if map is not None:
            text = encode(str(map), "map")
            work.keep.append(text)
            how.map = text
        for name, count, chosen in (("layers", "layer_count", layers), ("only", "only_count", only)):
            numbers = None if chosen is None else naturals(chosen, name)
            work.keep.append(numbers)
            setattr(how, name, None if numbers is None else numbers.ctypes.data)
            setattr(how, count, 0 if numbers is None else len(numbers))
        work(lib.wt_inspection_open, path_bytes(layer, "layer"), byref(how), byref(out))
        owned = Owned(out.value, lib.wt_inspection_free)
        for i in range(lib.wt_inspection_count(owned.handle)):
            summary = sized(wt_head_summary)
            work.quick(lib.wt_inspection_at, owned.handle, i, byref(summary))
            summaries.append(_head(summary))
    if fold and not lib.wt_inspection_folded(owned.handle):
        _errors.warn("there is no norm before its layers: nothing is folded", _errors.Remark)
    return _inspection(owned, summaries, os.fspath(layer))


def _head(summary: wt_head_summary) -> Head:
    head = Head(layer=summary.layer, head=summary.head, dim=summary.dim,
                **{name: getattr(summary, name) for name in NUMBERS}, ov_spectral=summary.ov_singular[0],
                ov_frobenius=summary.ov_frobenius, rank=summary.rank, singular=list(summary.singular),
                ov_singular=list(summary.ov_singular))
    return head


def _stems(owned: Owned) -> List[str]:
    """What the names of each layer's tensors start with; none for a file of one layer."""
    found = (lib.wt_inspection_stem(owned.handle, i) for i in range(lib.wt_inspection_layers(owned.handle)))
    return [stem.decode("utf-8", "replace") for stem in found if stem is not None]


def _inspection(owned: Owned, heads: List[Head], path: Any) -> Inspection:
    errors = [head.standard_errors for head in heads]
    positive = sum(head.diagonal_mean > 0 for head in heads)
    rate = lib.wt_rate_interval(positive, len(heads))
    scheme, rope = lib.wt_inspection_scheme(owned.handle), lib.wt_inspection_rope(owned.handle)
    left_out = lib.wt_inspection_left_out(owned.handle)
    products, theta = lib.wt_inspection_products(owned.handle), None
    if products is not None:
        m, d = lib.wt_products_heads(products), lib.wt_products_dim(products)
        theta = view(lib.wt_products_theta(products), (m, d, d), owned)
    return Inspection(
        file=path, dim=heads[0].dim, head_count=len(heads), heads=heads, scheme=scheme and scheme.decode(),
        layers=lib.wt_inspection_layers(owned.handle), rope=rope and rope.decode(),
        left_out=left_out and left_out.decode(), folded=lib.wt_inspection_folded(owned.handle), stems=_stems(owned), positive=positive, positive_rate=rate.value, positive_low=rate.low,
        positive_high=rate.high, above_two=sum(e > 2 for e in errors), below_two=sum(e < -2 for e in errors), theta=theta)


# ---- pictures -------------------------------------------------------------------------------------


def _grid(of: Inspection) -> Tuple[List[int], List[int]]:
    """Numbers of layers and heads."""
    return sorted({head.layer for head in of.heads}), sorted({head.head for head in of.heads})


def _grid_size(of: Inspection) -> Tuple[float, float]:
    layers, heads = _grid(of)
    if len(heads) > 2 * len(layers):  # one below the other
        return 7, 2 * (5.2 * len(layers) / len(heads) + 0.9)
    return 7, min(2.6 * len(layers) / len(heads) + 0.75, 9)


def _plot_grid(of: Inspection, figure: Any) -> Any:
    """Layers down, heads across: how far the diagonal stands out, and effective ranks."""
    layers, heads = _grid(of)
    errors = np.full((len(layers), len(heads)), np.nan)
    ranks = errors.copy()
    for head in of.heads:
        at = layers.index(head.layer), heads.index(head.head)
        errors[at], ranks[at] = head.standard_errors, head.effective_rank
    end = float(np.nanquantile(np.abs(errors), 0.9)) or 1.0  # the few heads past it have the colour at the end
    pair = figure.subplots(2, 1) if len(heads) > 2 * len(layers) else figure.subplots(1, 2)
    for ax, grid, title, colours, low, high in (
        (pair[0], errors, "diagonal, standard errors from 0", "RdBu_r", -end, end),
        (pair[1], ranks, "effective rank", "viridis", np.floor(np.nanmin(ranks)), np.ceil(np.nanmax(ranks)))):
        image = ax.imshow(grid, cmap=colours, vmin=low, vmax=high, aspect="equal", interpolation="nearest")
        ax.set_title(title, fontsize=9)
        ax.set_xlabel("head", fontsize=8)
        ax.set_ylabel("layer", fontsize=8)
        for axis, names in ((ax.xaxis, heads), (ax.yaxis, layers)):
            step = -(-len(names) // 12)
            axis.set_ticks(range(0, len(names), step), [str(name) for name in names[::step]], fontsize=7)
        beyond = "both" if colours == "RdBu_r" and np.nanmax(np.abs(errors)) > end else "neither"
        bar = figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03, extend=beyond)
        bar.ax.tick_params(labelsize=7)
    return figure


def _across(of: Inspection) -> Tuple[int, int]:
    """Heads beside each other, and rows of them: 4 at most, as evenly as it goes."""
    count = min(len(of.heads), HEADS)
    down = -(-count // 4)
    return -(-count // down), down


def _heads_size(of: Inspection) -> Tuple[float, float]:
    across, down = _across(of)
    return 1.75 * across + 0.7, 2.9 * down + 0.3


def _plot_heads(of: Inspection, figure: Any) -> Any:
    """Of every head theta over its spread off the diagonal, and below the means along its diagonals."""
    assert of.theta is not None
    shown = of.heads[:HEADS]
    across, groups = _across(of)
    d = of.theta.shape[1]
    crop, reach = min(d, CROP), min(d - 1, REACH)
    panels = figure.subplots(2 * groups, across, squeeze=False, height_ratios=[1.6, 1] * groups)
    image = None
    for i, head in enumerate(shown):
        unit = head.off_spread if head.off_spread > 0 else abs(head.diagonal_mean) or 1.0
        theta = of.theta[head.head] / unit
        top, below = panels[2 * (i // across), i % across], panels[2 * (i // across) + 1, i % across]
        image = top.imshow(theta[:crop, :crop], cmap="RdBu_r", vmin=-4, vmax=4, interpolation="nearest")
        top.set_title(f"head {head.head}: {head.standard_errors:.1f} std errors", fontsize=8)
        offsets = np.arange(-reach, reach + 1)
        means = [float(np.mean(np.diagonal(theta, offset))) for offset in offsets]
        middle, spread = (head.off_mean / unit, head.off_spread / unit) if d > 1 else (0.0, 0.0)
        half = 1.96 * spread / np.sqrt(d - np.abs(offsets))
        below.fill_between(offsets, middle - half, middle + half, color="0.85", linewidth=0)
        below.plot(offsets, means, color="#1f4e9c", linewidth=1)
        below.set_xlabel("offset j - i", fontsize=7)
        if i % across == 0:
            top.set_ylabel("query coordinate i", fontsize=7)
            below.set_ylabel("mean / spread", fontsize=7)
        top.set_xlabel("key coordinate j", fontsize=7)
        for axis in (top.xaxis, top.yaxis, below.xaxis):
            axis.get_major_locator().set_params(integer=True)
        for ax in (top, below):
            ax.tick_params(labelsize=6)
    for i in range(len(shown), groups * across):
        panels[2 * (i // across), i % across].set_visible(False)
        panels[2 * (i // across) + 1, i % across].set_visible(False)
    bar = figure.colorbar(image, ax=panels[::2, :].ravel().tolist(), fraction=0.03, pad=0.02, extend="both")
    bar.set_label("theta / spread off the diagonal", fontsize=7)
    bar.ax.tick_params(labelsize=6)
    if len(shown) < len(of.heads):
        _errors.warn(f"the picture shows the first {len(shown)} of {len(of.heads)} heads", _errors.Remark)
    return figure
