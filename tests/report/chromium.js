/* Looks around a page of `wattle report` in a browser, and explores its figures as a reader would. The
 * numbers of the files stand in elements csv-ID. Says what it found to the frame around it. */
'use strict';
const faults = [];
const expect = (fine, words) => fine || faults.push(words);
const same = (a, b, words) => expect(a === b, `${words}: ${a}, not ${b}`);
const all = (within, selector) => [...within.querySelectorAll(selector)];
const shown = (node) => {
  const box = node.getBoundingClientRect();
  return box.width + box.height > 0;
};
const middle = (node) => {
  const box = node.getBoundingClientRect();
  return {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, button: 0};
};
const light = (colour) => {
  const [r, g, b] = colour.match(/[0-9.]+/g).map(Number);
  return (r + g + b) / 3;
};
/* As the page writes a number. */
const words = (text) => String(Number(Number(text).toPrecision(6))).replaceAll('-', '\u2212');

function lookAround(wanted, dark) {
  const ids = all(document, '[id]').map((part) => part.id);
  same(innerWidth, wanted, 'width of the window');
  for (const open of [true, false]) {
    for (const part of all(document, 'details')) part.open = open;
    expect(document.documentElement.scrollWidth <= innerWidth, `the page is ${document.documentElement.scrollWidth} wide`);
  }
  same(new Set(ids).size, ids.length, 'different names of parts');
  for (const figure of all(document, 'figure')) {
    const panels = all(figure, '.panel');
    expect(panels.length > 0, 'a figure without panels: ' + figure.id);
    for (const panel of panels) {
      expect(all(panel, '.drawing .mark').some(shown), 'a drawing without marks in ' + figure.id);
      expect(!shown(panel.querySelector('svg.plot')), 'two drawings of a panel in ' + figure.id);
    }
    const heights = new Set(all(figure, '.drawing').map((panel) => panel.clientHeight));
    same(heights.size, 1, 'heights of the panels of ' + figure.id);
    const looks = all(figure, '.tools .key svg').map((key) => getComputedStyle(key).color);
    same(new Set(looks).size, looks.length, 'colours of ' + figure.id);
  }
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const ink = light(getComputedStyle(document.querySelector('.drawing .label')).fill);
  expect(dark ? paper < 80 && ink > 180 : paper > 200 && ink < 90, `letters of ${ink} on ${paper}`);
}

/* The rows of a file of numbers; names of the figures tried here have no commas. */
function rowsOf(figure) {
  const [, ...rows] = document.getElementById('csv-' + figure.id).textContent.trim().split('\n');
  return rows.map((row) => row.split(','));
}

const linesOf = ([panel, series, , , low, high, cells], x, y) => [
  [panel, series].filter(Boolean).join(', '), x, y,
  ...(low === '' ? [] : [`95% interval ${words(low)} to ${words(high)}`]),
  cells + (cells === '1' ? ' cell' : ' cells')];

/* Every mark of a panel, pointed at where no other is in the way, tells a row of the file. */
function hover(figure, rows) {
  let told = 0;
  const tips = new Set();
  for (const drawing of all(figure, '.drawing'))
    for (const mark of all(drawing, '.mark')) {
      const place = middle(mark), at = document.elementFromPoint(place.clientX, place.clientY);
      if (!at || at.closest('.drawing') !== drawing) continue;
      at.dispatchEvent(new PointerEvent('pointermove', place));
      const said = [...drawing.querySelector('.tip').children].map((line) => line.textContent);
      const row = rows.find(([panel, series, x, y, ...more]) =>
        linesOf([panel, series, x, y, ...more], said[1], said[2]).join() === said.join() &&
        said[1].endsWith(' ' + words(x)) && said[2].endsWith(' ' + words(y)));
      expect(row !== undefined, `no row says: ${said.join(' | ')}`);
      told++;
      tips.add(said.join());
      at.dispatchEvent(new PointerEvent('pointerleave', place));
      expect(drawing.querySelector('.tip').hidden, 'the words stay when the pointer has left');
    }
  expect(told > 0 && tips.size > 1, `${told} marks with ${tips.size} different words`);
}

function drag(drawing, from, to) {
  const box = drawing.querySelector('svg').getBoundingClientRect();
  const at = ([x, y]) => ({clientX: box.x + x * box.width, clientY: box.y + y * box.height, bubbles: true, button: 0});
  drawing.querySelector('svg').dispatchEvent(new PointerEvent('pointerdown', at(from)));
  drawing.querySelector('svg').dispatchEvent(new PointerEvent('pointermove', at(to)));
  dispatchEvent(new PointerEvent('pointerup', at(to)));
}

const inside = (drawing) => {
  const axes = drawing.querySelector('.axes').getBoundingClientRect();
  return all(drawing, '.mark').filter((mark) => {
    const {clientX, clientY} = middle(mark);
    return clientX >= axes.left && clientX <= axes.right && clientY >= axes.top && clientY <= axes.bottom;
  }).length;
};
const buttonOf = (figure, label) =>
  all(figure, '.tools button').find((each) => [each.textContent, each.getAttribute('aria-label')].includes(label));
const picture = (figure) =>
  all(figure, '.drawing svg > :not(.ring, .band)').map((part) => part.outerHTML).join();

function zoom(figure) {
  const before = picture(figure), drawing = figure.querySelector('.drawing'), marks = inside(drawing);
  expect(buttonOf(figure, 'reset').disabled, 'there is a zoom to reset from the start');
  drag(drawing, [0.3, 0.1], [0.6, 0.5]);
  expect(inside(drawing) < marks, 'a drag does not zoom');
  expect(!buttonOf(figure, 'reset').disabled, 'a zoom cannot be reset');
  buttonOf(figure, 'reset').click();
  expect(picture(figure) === before, 'a reset does not bring the picture back');
  drag(drawing, [0.3, 0.3], [0.6, 0.31]);
  drawing.querySelector('svg').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}));
  expect(picture(figure) === before, 'a double click does not bring the picture back');
  buttonOf(figure, 'zoom in').click();
  expect(picture(figure) !== before, 'the button does not zoom');
  buttonOf(figure, 'reset').click();
}

function switches(figure) {
  const before = picture(figure), rows = all(figure, 'tbody tr');
  for (const key of all(figure, 'button.key')) {
    const marks = all(figure, '.mark').filter(shown).length;
    key.click();
    same(key.getAttribute('aria-pressed'), 'false', 'a series that is off');
    expect(all(figure, '.drawing .series').length > 0 || all(figure, 'button.key').length === 1, 'all series are off');
    expect(all(figure, '.mark').filter(shown).length <= marks, 'a series is drawn that is off');
    expect(rows.every((row) => row.hidden === row.textContent.includes(key.textContent)) ||
      all(figure, 'button.key').some((other) => other !== key && other.textContent.includes(key.textContent)),
      'rows of ' + key.textContent);
    key.click();
    expect(picture(figure) === before, 'a series that is on again is drawn otherwise');
  }
  for (const letter of ['x', 'y']) {
    const log = buttonOf(figure, 'log ' + letter), pressed = log.getAttribute('aria-pressed');
    log.click();
    expect(picture(figure) !== before && log.getAttribute('aria-pressed') !== pressed, `${letter} keeps its scale`);
    log.click();
    expect(picture(figure) === before, `${letter} does not get its scale back`);
  }
}

function sorts(figure, rows) {
  const heads = all(figure, 'thead th');
  for (const key of ['x', 'y', 'cells']) {
    const column = heads.findIndex((head) => head.dataset.key === key);
    const want = rows.map((row) => Number(row[{x: 2, y: 3, cells: 6}[key]])).sort((a, b) => a - b);
    for (const order of ['ascending', 'descending']) {
      heads[column].querySelector('button').click();
      same(heads[column].getAttribute('aria-sort'), order, 'order of ' + key);
      const seen = all(figure, 'tbody tr').map((row) => row.cells[column].textContent);
      same(seen.length, want.length, 'rows of ' + figure.id);
      const numbers = seen.map((text) => Number(text.replace('\u2212', '-')));
      expect(numbers.every((value, k) => Math.abs(value - want[k]) <= 0.006 * Math.abs(want[k])),
        `${key} is not ${order}: ${seen.slice(0, 5)}`);
      want.reverse();
    }
  }
}

/* Every value is reached by keys and said. */
function keys(figure, rows) {
  const said = new Set(), status = figure.querySelector('[role=status]');
  for (const drawing of all(figure, '.drawing')) {
    const press = (key) => {
      const event = new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true});
      drawing.dispatchEvent(event);
      expect(event.defaultPrevented, key + ' is not heard');
      return status.textContent;
    };
    drawing.focus();
    expect(document.activeElement === drawing, 'a drawing cannot be focused');
    said.add(press('ArrowRight'));
    for (let last = null, line = press('Home'); line !== last; last = line, press('Home'), line = press('ArrowDown')) {
      said.add(line);
      for (let point = null, next = line; next !== point; point = next, next = press('ArrowRight')) said.add(next);
    }
  }
  same(said.size, rows.length, 'points of ' + figure.id + ' that keys reach');
}

addEventListener('load', () => {
  const [width, scheme] = location.hash.slice(1).split('-');
  const errors = [];
  addEventListener('error', (event) => errors.push(event.message));
  lookAround(Number(width), scheme === 'dark');
  for (const file of all(document, '[id^=csv-]')) {
    const figure = document.getElementById(file.id.slice(4)), rows = rowsOf(figure);
    figure.scrollIntoView();
    if (width > 1000) hover(figure, rows);
    zoom(figure);
    switches(figure);
    keys(figure, rows);
    sorts(figure, rows);
  }
  faults.push(...errors);
  console.error('probe: the console is heard');
  parent.postMessage(faults.length ? 'LOOKED faults: ' + faults.slice(0, 8).join('; ')
    : `LOOKED fine: ${all(document, 'figure').length} figures, ${all(document, '.drawing .mark').length} marks`, '*');
});
