/* Charts to explore, first part: a panel drawn from the points that stand in the page. What the script
 * adds has class "live", and does not print. */
'use strict';

const OPEN_LOW = 1, OPEN_HIGH = 2, OPEN_VALUE = 4; /* as wt_open */
const LETTER = 6.4;                                /* pixels, about */

function make(parent, name, attributes, text) {
  const drawn = name === 'svg' || parent instanceof SVGElement;
  const node = drawn ? document.createElementNS('http://www.w3.org/2000/svg', name)
                     : document.createElement(name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

function words(value) {
  if (value === null) return '?';
  return String(Number(value.toPrecision(6))).replaceAll('-', '\u2212');
}

/* ---- axes: a range, in logs or not, laid on pixels ---- */

function axis(low, high, log, from, to) {
  const way = log ? Math.log10 : (value) => value;
  const share = (to - from) / (way(high) - way(low));
  return {
    low, high, log,
    at: (value) => from + (way(value) - way(low)) * share,
    back: (pixel) => {
      const value = way(low) + (pixel - from) / share;
      return log ? 10 ** value : value;
    },
    shows: (value) => value >= low && value <= high,
  };
}

function padded(low, high, log, share) {
  if (!(low <= high)) return log ? [0.1, 10] : [0, 1];
  if (log) return padded(Math.log10(low), Math.log10(high), false, share).map((v) => 10 ** v);
  const room = high > low ? share * (high - low) : Math.max(Math.abs(high), 1) / 2;
  return [low - room, high + room];
}

function linearTicks(low, high, most) {
  const rough = (high - low) / most, unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((times) => times * unit >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12); k++)
    ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/* Powers of ten, then with 2 and 5 between them, then all digits; a narrow view has round
 * numbers. */
function logTicks(low, high, most) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const every = Math.max(1, Math.ceil((last - first) / most));
  for (const digits of [[1], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
    const ticks = [];
    for (let k = first; k <= last; k += digits.length > 1 ? 1 : every)
      for (const digit of digits) {
        const tick = Number((digit * 10 ** k).toPrecision(12));
        if (tick >= low && tick <= high) ticks.push(tick);
      }
    if (ticks.length >= 3) return ticks;
  }
  return linearTicks(low, high, most);
}

function tickWords(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) {
    const [digits, power] = value.toExponential().split('e');
    const raised = [...power.replace('+', '')]
      .map((sign) => sign === '-' ? '\u207b' : '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'[sign])
      .join('');
    return (digits === '1' ? '' : digits.replace('-', '\u2212') + '\u00b7') + '10' + raised;
  }
  return words(value);
}

/* The values that x has, where they are few; labels that would touch are left out. */
function ticksOf(scale, most, values) {
  const seen = values.filter(scale.shows);
  if (seen.length > 1 && seen.length <= 12) return seen;
  return (scale.log ? logTicks : linearTicks)(scale.low, scale.high, most);
}

/* ---- points ---- */

const value = (chart, point) => {
  const bound = point.open & OPEN_VALUE;
  const sign = bound ? (point.open & OPEN_HIGH ? '> ' : '< ') : '';
  return chart.y + ' ' + sign + words(point.y);
};

function spread(point) {
  if (point.low === null) return '';
  return '95% interval ' + words(point.open & OPEN_LOW ? null : point.low) + ' to ' +
    words(point.open & OPEN_HIGH ? null : point.high);
}

const told = (chart, point) => [
  [point.panel.title, point.series.name].filter(Boolean).join(', '),
  chart.x + ' ' + words(point.x), value(chart, point), spread(point),
  point.cells + (point.cells === 1 ? ' cell' : ' cells'),
].filter(Boolean);

function pointsOf(chart) {
  const all = [];
  for (const panel of chart.panels)
    for (const series of panel.series) {
      series.points = series.at.map(([x, y, low, high, cells, open]) =>
        ({panel, series, x, y, low, high, cells, open}));
      if (series.kind !== 'line') all.push(...series.points);
    }
  return all;
}

const visible = (chart, panel) => panel.series.filter((series) => !chart.off.has(series.name));
const drawable = (chart, point) =>
  Number.isFinite(point.x) && Number.isFinite(point.y) && (!chart.logX || point.x > 0) &&
  (!chart.logY || point.y > 0);

/* Ranges that hold what is switched on. */
function rangesOf(chart, panel) {
  const xs = [], ys = [];
  for (const series of visible(chart, panel))
    for (const point of series.points) {
      if (!drawable(chart, point)) continue;
      xs.push(point.x);
      ys.push(point.y);
      if (point.high === null) continue;
      ys.push(chart.logY ? Math.max(point.low, point.y / 10) : point.low, point.high);
    }
  const least = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
  return {
    x: padded(least(xs), most(xs), chart.logX, 0.04),
    y: chart.rate && !chart.logY ? [-0.03, 1.03] : padded(least(ys), most(ys), chart.logY, 0.06),
  };
}

/* ---- the drawing of a panel ---- */

function drawAxes(chart, panel, svg, box) {
  const {x, y} = panel;
  const values = [...new Set(panel.series.filter((s) => s.kind !== 'line')
    .flatMap((s) => s.points.map((p) => p.x)))].sort((a, b) => a - b);
  let end = -Infinity;
  for (const tick of ticksOf(x, Math.max(3, Math.floor((box.right - box.left) / 80)), values)) {
    const label = tickWords(tick), at = x.at(tick), half = label.length * LETTER / 2;
    make(svg, 'path', {class: 'grid', d: `M${at} ${box.top}V${box.bottom}`});
    if (at - half < end + 8) continue;
    make(svg, 'text', {x: at, y: box.bottom + 16, 'text-anchor': 'middle'}, label);
    end = at + half;
  }
  for (const tick of panel.ticks) {
    make(svg, 'path', {class: 'grid', d: `M${box.left} ${y.at(tick)}H${box.right}`});
    make(svg, 'text', {x: box.left - 6, y: y.at(tick) + 4, 'text-anchor': 'end'}, tickWords(tick));
  }
  make(svg, 'path', {class: 'axes', d: `M${box.left} ${box.top}V${box.bottom}H${box.right}`});
  make(svg, 'text', {class: 'label', x: (box.left + box.right) / 2, y: box.bottom + 34,
    'text-anchor': 'middle'}, chart.x);
  make(svg, 'text', {class: 'label', 'text-anchor': 'middle',
    transform: `translate(12 ${(box.top + box.bottom) / 2}) rotate(-90)`}, chart.y);
}

/* From low to high; an arrow where an end is open or lies outside the axes. */
function drawBar(group, point, y, at, top, bottom) {
  if (point.low === null && !(point.open & OPEN_VALUE)) return;
  const middle = y.at(point.y), bound = point.open & OPEN_VALUE;
  for (const [end, flag, edge, sign] of [[point.low, OPEN_LOW, bottom, 1], [point.high, OPEN_HIGH, top, -1]]) {
    if (bound && !(point.open & flag)) continue;
    let to = bound || (y.log && end <= 0) ? edge : y.at(end);
    const beyond = sign * (to - edge) >= 0 || point.open & flag;
    if (bound || point.open & flag) to = Math.abs(to - middle) < 18 || bound ? middle + sign * 18 : to;
    to = sign > 0 ? Math.min(to, bottom) : Math.max(to, top);
    make(group, 'path', {class: 'bar', d: `M${at} ${middle}V${to}` +
      (beyond ? `m-3 ${-5 * sign}l3 ${5 * sign}l3 ${-5 * sign}` : 'm-3 0h6')});
  }
}

function drawSeries(chart, panel, series, plot, box, moved) {
  const group = make(plot, 'g', {class: 'series look-' + series.look});
  const points = series.points.filter((point) => drawable(chart, point));
  const place = (point) => panel.x.at(point.x) + moved;
  if (series.kind !== 'dots' && points.length > 1) {
    const joined = points.filter((point) => !(point.open & OPEN_VALUE));
    const d = joined.map((point, k) => `${k ? 'L' : 'M'}${place(point)} ${panel.y.at(point.y)}`);
    make(group, 'path', {class: 'line', d: d.join(''), 'stroke-dasharray': series.dash});
  }
  if (series.kind === 'line') return;
  for (const point of points) drawBar(group, point, panel.y, place(point), box.top, box.bottom);
  for (const point of points) {
    const at = place(point), up = panel.y.at(point.y);
    const full = series.full && !(point.open & OPEN_VALUE);
    make(group, 'path', {class: full ? 'mark full' : 'mark', d: series.mark,
      transform: `translate(${at} ${up})`});
    if (at >= box.left && at <= box.right && up >= box.top && up <= box.bottom)
      panel.shown.push({point, at, up});
  }
}

function draw(chart, panel) {
  const width = Math.max(240, panel.live.clientWidth);
  const height = Math.round(Math.min(340, Math.max(230, width * 0.62)));
  const full = rangesOf(chart, panel), view = panel.view || full;
  const box = {top: 8, bottom: height - 44, right: width - 12};
  panel.y = axis(...view.y, chart.logY, box.bottom, box.top);
  panel.ticks = ticksOf(panel.y, 5, []);
  box.left = 30 + LETTER * Math.max(2, ...panel.ticks.map((tick) => tickWords(tick).length));
  panel.x = axis(...view.x, chart.logX, box.left, box.right);
  panel.box = box;
  panel.full = full;
  panel.shown = [];
  const svg = panel.svg;
  svg.replaceChildren();
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('width', width);
  svg.setAttribute('height', height);
  const clip = make(make(svg, 'clipPath', {id: panel.id}), 'rect', {
    x: box.left - 6, y: box.top - 6, width: box.right - box.left + 12, height: box.bottom - box.top + 12});
  clip.parentNode.setAttribute('clipPathUnits', 'userSpaceOnUse');
  drawAxes(chart, panel, svg, box);
  const plot = make(svg, 'g', {'clip-path': `url(#${panel.id})`});
  const seen = visible(chart, panel), barred = seen.filter((series) => series.kind !== 'line');
  const apart = Math.min(4, 24 / Math.max(1, barred.length));
  for (const series of seen) {
    const place = barred.indexOf(series);
    drawSeries(chart, panel, series, plot, box, place < 0 ? 0 : (place - (barred.length - 1) / 2) * apart);
  }
  panel.ring = make(svg, 'circle', {class: 'ring', r: 8, visibility: 'hidden'});
  panel.band = make(svg, 'rect', {class: 'band', visibility: 'hidden'});
  hide(chart, panel);
}
