#!/bin/sh
# The report in a browser: nothing complains, every figure has marks, nothing scrolls sideways on a
# desk or a telephone, and a dark page is dark.
# usage: chromium.sh WATTLE CHROMIUM
set -eu
wattle=$1
chromium=$2
folder=$(mktemp -d /tmp/wattle-chromium-XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$wattle" reproduce --scale tiny -o . --quiet >/dev/null

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# Files that the page links to are there.
for file in $(grep -o 'href="report-figures[^"]*"' report.html | sed 's/href="//; s/"//' | sort -u); do
    [ -s "$file" ] || fail "the page links to $file, which is not there"
done

# A copy of the page with a script that looks around; the page itself has none.
grep -q '<script' report.html && fail "the page has a script"
sed 's|</body>||; s|</html>||' report.html >look.html
cat >>look.html <<'LOOK'
<script>
addEventListener('load', () => {
  const faults = [], ids = new Set();
  const wanted = Number(location.hash.slice(1).split('-')[0]), dark = location.hash.endsWith('dark');
  if (innerWidth !== wanted) faults.push('the window is ' + innerWidth + ' wide');
  for (const open of [false, true]) {
    for (const part of document.querySelectorAll('details')) part.open = open;
    const wide = document.documentElement.scrollWidth;
    if (wide > innerWidth) faults.push('the page is ' + wide + ' wide');
  }
  for (const part of document.querySelectorAll('[id]')) {
    if (ids.has(part.id)) faults.push('two parts are named ' + part.id);
    ids.add(part.id);
  }
  let figures = 0, marks = 0;
  for (const figure of document.querySelectorAll('figure')) {
    const plots = figure.querySelectorAll('svg.plot');
    figures++;
    if (plots.length === 0) faults.push('a figure without drawing: ' + figure.id);
    for (const plot of plots) {
      let here = 0;
      for (const mark of plot.querySelectorAll('[id*=gnuplot_plot] use, [id*=gnuplot_plot] path')) {
        const box = mark.getBoundingClientRect();
        if (box.width + box.height > 0) here++;
      }
      if (here === 0) faults.push('a drawing without marks in ' + figure.id);
      marks += here;
    }
  }
  if (figures === 0) faults.push('no figures');
  const light = (colour) => {
    const [r, g, b] = colour.match(/[0-9.]+/g).map(Number);
    return (r + g + b) / 3;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const letter = document.querySelector('.plot [fill=black]');
  const ink = light(getComputedStyle(letter).fill);
  if (dark ? paper > 80 || ink < 180 : paper < 200 || ink > 90)
    faults.push('letters of ' + ink + ' on ' + paper);
  console.error('probe: the console is heard');
  parent.postMessage(faults.length ? 'LOOKED faults: ' + faults.join('; ')
                                   : 'LOOKED fine: ' + figures + ' figures, ' + marks + ' marks', '*');
});
</script></body></html>
LOOK

# A window is never narrower than 500, a frame is.
for width in 1280 390; do
    for scheme in light dark; do
        cat >"frame-$width-$scheme.html" <<FRAME
<!DOCTYPE html><meta name="color-scheme" content="light dark"><title>frame</title><link rel="icon" href="data:,">
<script>addEventListener('message', (event) => {
  const said = document.createElement('p');
  said.textContent = event.data;
  document.body.append(said);
});</script>
<body><iframe src="look.html#$width-$scheme" width="$width" height="900" style="border:0"></iframe></body>
FRAME
    done
done

# open_page SCHEME PAGE: the page as it stands in the end; what the console heard goes to log.
open_page() {
    scheme=1
    [ "$1" = dark ] && scheme=0
    timeout -k 5 120 "$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --hide-scrollbars --no-first-run --user-data-dir="$folder/profile" \
        --blink-settings=preferredColorScheme=$scheme --enable-logging=stderr \
        --window-size=1400,1000 --virtual-time-budget=5000 --dump-dom "file://$folder/$2" 2>log ||
        fail "chromium fails: $(tail -n 3 log)"
}

for width in 1280 390; do
    for scheme in light dark; do
        said=$(open_page $scheme "frame-$width-$scheme.html" | grep -o 'LOOKED [^<]*' | tail -n 1)
        case $said in
        "LOOKED fine"*) ;;
        *) fail "at $width, $scheme: ${said:-the script did not run}" ;;
        esac
        grep -q 'CONSOLE.*probe: the console is heard' log || fail "the console is not heard"
        printf '%s %s: %s\n' $width $scheme "$said"
    done
done
open_page light report.html >/dev/null
if grep CONSOLE log; then
    fail "the console complains"
fi
echo "chromium: fine"
