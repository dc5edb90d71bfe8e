
/* Charts to explore, second part: points in words, zoom, switches, a table that sorts. */

const NEAR = 30, DRAGGED = 8; /* pixels */
let touched = 0;              /* views, switches and orders that a reload would lose */

/* ---- one point in words ---- */

function hide(chart, panel) {
  if (panel.here && panel.here.point.row) panel.here.point.row.classList.remove('here');
  panel.here = null;
  panel.tip.hidden = true;
  panel.ring.setAttribute('visibility', 'hidden');
}

function show(chart, panel, spot, aloud) {
  hide(chart, panel);
  panel.here = spot;
  const lines = told(chart, spot.point), tip = panel.tip;
  tip.replaceChildren();
  lines.forEach((line, k) => make(tip, k ? 'span' : 'b', {}, line));
  tip.hidden = false;
  const left = spot.at + 14 + tip.offsetWidth > panel.live.clientWidth ? spot.at - 14 - tip.offsetWidth : spot.at + 14;
  tip.style.left = Math.max(0, left) + 'px';
  tip.style.top = Math.max(0, spot.up - tip.offsetHeight - 6) + 'px';
  panel.ring.setAttribute('cx', spot.at);
  panel.ring.setAttribute('cy', spot.up);
  panel.ring.setAttribute('visibility', 'visible');
  const row = spot.point.row;
  if (row) {
    row.classList.add('here');
    const list = row.closest('.scroll');
    if (!list.matches(':hover')) list.scrollTop = row.offsetTop - list.clientHeight / 2;
  }
  if (aloud) say(chart, lines.join('; '));
}

function say(chart, sentence) {
  chart.said.textContent = sentence;
}

function nearest(panel, x, y) {
  let best = null, least = NEAR;
  for (const spot of panel.shown) {
    const away = Math.hypot(spot.at - x, spot.up - y);
    if (away <= least) [best, least] = [spot, away];
  }
  return best;
}

/* ---- zoom ---- */

function setView(chart, panel, view) {
  touched += (view ? 1 : 0) - (panel.view ? 1 : 0);
  panel.view = view;
  draw(chart, panel);
  chart.reset.disabled = chart.panels.every((each) => !each.view);
}

/* By a factor around a place in pixels. */
function zoom(chart, panel, factor, x, y) {
  const of = (scale, middle, from, to) =>
    [scale.back(middle + (from - middle) * factor), scale.back(middle + (to - middle) * factor)];
  setView(chart, panel, {x: of(panel.x, x, panel.box.left, panel.box.right),
    y: of(panel.y, y, panel.box.bottom, panel.box.top)});
}

function zoomAll(chart, factor) {
  for (const panel of chart.panels) {
    const {left, right, top, bottom} = panel.box;
    zoom(chart, panel, factor, (left + right) / 2, (top + bottom) / 2);
  }
  say(chart, factor < 1 ? 'zoomed in' : 'zoomed out');
}

function resetAll(chart) {
  for (const panel of chart.panels) setView(chart, panel, null);
  say(chart, 'all points are in view');
}

/* The rectangle between two places; a thin one zooms along its length alone. */
function dragged(panel, from, to) {
  const {left, right, top, bottom} = panel.box;
  const inside = (value, low, high) => Math.min(high, Math.max(low, value));
  let xs = [from.x, to.x].sort((a, b) => a - b), ys = [from.y, to.y].sort((a, b) => a - b);
  if (ys[1] - ys[0] < DRAGGED * 2) ys = [top, bottom];
  if (xs[1] - xs[0] < DRAGGED * 2) xs = [left, right];
  return {xs: xs.map((v) => inside(v, left, right)), ys: ys.map((v) => inside(v, top, bottom))};
}

function listen(chart, panel) {
  let from = null;
  const svg = panel.svg;
  const place = (event) => {
    const at = svg.getBoundingClientRect();
    return {x: event.clientX - at.left, y: event.clientY - at.top};
  };
  const far = (to) => from && Math.hypot(to.x - from.x, to.y - from.y) > DRAGGED;
  svg.addEventListener('pointermove', (event) => {
    const to = place(event), spot = nearest(panel, to.x, to.y);
    if (far(to)) return;
    if (spot) show(chart, panel, spot, false);
    else hide(chart, panel);
  });
  svg.addEventListener('pointerleave', () => hide(chart, panel));
  svg.addEventListener('pointerdown', (event) => {
    if (event.button === 0) from = place(event);
  });
  addEventListener('pointermove', (event) => {
    if (!from) return;
    const to = place(event);
    if (!far(to)) return;
    hide(chart, panel);
    const {xs, ys} = dragged(panel, from, to), band = {x: xs[0], y: ys[0], width: xs[1] - xs[0],
      height: ys[1] - ys[0], visibility: 'visible'};
    for (const key in band) panel.band.setAttribute(key, band[key]);
  });
  addEventListener('pointerup', (event) => {
    if (!from) return;
    const to = place(event);
    panel.band.setAttribute('visibility', 'hidden');
    if (far(to)) {
      const {xs, ys} = dragged(panel, from, to);
      if (xs[1] - xs[0] > DRAGGED && ys[1] - ys[0] > DRAGGED)
        setView(chart, panel, {x: xs.map(panel.x.back), y: [panel.y.back(ys[1]), panel.y.back(ys[0])]});
    }
    from = null;
  });
  addEventListener('pointercancel', () => {
    from = null;
    panel.band.setAttribute('visibility', 'hidden');
  });
  svg.addEventListener('dblclick', () => setView(chart, panel, null));
  panel.live.addEventListener('keydown', (event) => press(chart, panel, event));
  panel.live.addEventListener('blur', () => hide(chart, panel));
}

/* ---- keys ---- */

function step(panel, key) {
  const here = panel.here, shown = panel.shown;
  if (!here) return shown[0];
  const line = shown.filter((spot) => spot.point.series === here.point.series);
  const at = line.indexOf(here);
  if (key === 'Home') return line[0];
  if (key === 'End') return line[line.length - 1];
  if (key === 'ArrowRight') return line[at + 1] || here;
  if (key === 'ArrowLeft') return line[at - 1] || here;
  const all = [...new Set(shown.map((spot) => spot.point.series))];
  const other = all[all.indexOf(here.point.series) + (key === 'ArrowDown' ? 1 : -1)];
  return shown.filter((spot) => spot.point.series === other)
    .sort((a, b) => Math.abs(a.at - here.at) - Math.abs(b.at - here.at))[0] || here;
}

function press(chart, panel, event) {
  const {left, right, top, bottom} = panel.box, here = panel.here;
  const middle = here ? [here.at, here.up] : [(left + right) / 2, (top + bottom) / 2];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) {
    const spot = step(panel, event.key);
    if (spot) show(chart, panel, spot, true);
  } else if (event.key === '+' || event.key === '=') zoom(chart, panel, 1 / 1.5, ...middle);
  else if (event.key === '-') zoom(chart, panel, 1.5, ...middle);
  else if (event.key === '0') setView(chart, panel, null);
  else if (event.key === 'Escape' && here) hide(chart, panel);
  else return;
  event.preventDefault();
}

/* ---- switches ---- */

function button(parent, label, pressed, act) {
  const node = make(parent, 'button', {type: 'button'}, label);
  if (pressed !== null) node.setAttribute('aria-pressed', pressed);
  node.addEventListener('click', () => act(node));
  return node;
}

function redraw(chart) {
  for (const panel of chart.panels) draw(chart, panel);
  for (const point of chart.points) if (point.row) point.row.hidden = chart.off.has(point.series.name);
}

function setSeries(chart, names, on) {
  const before = chart.off.size;
  for (const name of names) {
    if (on) chart.off.delete(name);
    else chart.off.add(name);
    chart.keys.get(name).setAttribute('aria-pressed', on);
  }
  touched += chart.off.size - before;
  redraw(chart);
  say(chart, (names.length === 1 ? names[0] : 'all series') + (on ? ' shown' : ' hidden'));
}

function addTools(chart, figure) {
  const tools = make(figure, 'div', {class: 'live tools', role: 'group', 'aria-label': 'Chart: ' + chart.title});
  figure.querySelector('.legend').before(tools);
  figure.querySelectorAll('.legend li').forEach((item, k) => {
    const name = chart.names[k]; /* as it is, not as a page can show it */
    const key = button(tools, '', true, () => setSeries(chart, [name], chart.off.has(name)));
    key.append(...[...item.childNodes].map((node) => node.cloneNode(true)));
    key.className = 'key';
    chart.keys.set(name, key);
  });
  if (chart.names.length > 2) {
    const many = make(tools, 'span', {});
    button(many, 'all', null, () => setSeries(chart, chart.names, true));
    button(many, 'none', null, () => setSeries(chart, chart.names, false));
  }
  const last = make(tools, 'span', {class: 'axis-tools'});
  for (const letter of ['X', 'Y'])
    button(last, 'log ' + letter.toLowerCase(), chart['log' + letter], (node) => {
      chart['log' + letter] = !chart['log' + letter];
      node.setAttribute('aria-pressed', chart['log' + letter]);
      resetAll(chart);
      say(chart, letter.toLowerCase() + ' axis is ' + (chart['log' + letter] ? 'logarithmic' : 'linear'));
    });
  button(last, '+', null, () => zoomAll(chart, 1 / 1.5)).setAttribute('aria-label', 'zoom in');
  button(last, '\u2212', null, () => zoomAll(chart, 1.5)).setAttribute('aria-label', 'zoom out');
  chart.reset = button(last, 'reset', null, () => resetAll(chart));
  chart.reset.disabled = true;
  chart.said = make(tools, 'p', {class: 'unseen', role: 'status'});
}

/* ---- the table ---- */

const keyOf = (point, key) =>
  key === 'panel' ? point.panel.title : key === 'series' ? point.series.name : point[key];

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return typeof a === 'number' ? a - b : a.localeCompare(b, 'en', {numeric: true});
}

function sortRows(chart, table, head) {
  const down = head.getAttribute('aria-sort') === 'ascending', key = head.dataset.key;
  for (const each of table.tHead.rows[0].cells) each.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const order = [...chart.points].sort((a, b) => {
    const [left, right] = [keyOf(a, key), keyOf(b, key)];
    return left === null || right === null || !down ? compare(left, right) : compare(right, left);
  });
  table.tBodies[0].append(...order.map((point) => point.row));
  touched = Math.max(touched, 1);
  say(chart, 'sorted by ' + head.textContent + (down ? ', falling' : ', rising'));
}

function addOrder(chart, table) {
  const rows = [...table.tBodies[0].rows];
  chart.points.forEach((point, k) => {
    point.row = rows[k];
    rows[k].addEventListener('mouseenter', () => {
      const spot = point.panel.shown.find((each) => each.point === point);
      if (spot) show(chart, point.panel, spot, false);
    });
    rows[k].addEventListener('mouseleave', () => hide(chart, point.panel));
  });
  for (const head of table.tHead.rows[0].cells) {
    const label = head.textContent;
    head.textContent = '';
    button(head, label, null, () => sortRows(chart, table, head));
  }
}

/* ---- all figures ---- */

function explore(figure, number) {
  const chart = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  chart.off = new Set();
  chart.keys = new Map();
  chart.points = pointsOf(chart);
  addTools(chart, figure);
  const places = figure.querySelectorAll('.panel');
  chart.panels.forEach((panel, k) => {
    panel.id = `clip-${number}-${k}`;
    panel.live = make(places[k], 'div', {class: 'live drawing', tabindex: 0, role: 'application',
      'aria-roledescription': 'chart', 'aria-label': [chart.title, panel.title].filter(Boolean).join(': ') +
      '. Arrow keys go from point to point, plus and minus zoom, 0 resets.'});
    panel.svg = make(panel.live, 'svg', {'aria-hidden': true});
    panel.tip = make(panel.live, 'div', {class: 'tip', 'aria-hidden': true});
    draw(chart, panel);
    listen(chart, panel);
    let width = panel.live.clientWidth;
    new ResizeObserver(() => {
      if (panel.live.clientWidth !== width) draw(chart, panel);
      width = panel.live.clientWidth;
    }).observe(panel.live);
  });
  addOrder(chart, figure.querySelector('table.points'));
}

document.documentElement.classList.add('lively');
document.querySelectorAll('figure').forEach(explore);

/* A page that is written anew is read anew, unless somebody is exploring it. */
const seconds = Number(document.documentElement.dataset.again);
if (seconds > 0)
  setInterval(() => {
    if (touched === 0 && !document.activeElement.closest('.live')) location.reload();
  }, 1000 * seconds);
