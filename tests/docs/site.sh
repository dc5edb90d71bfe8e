#!/bin/sh
# The site is made, its links lead somewhere, and in a browser every page, wide and narrow, light and dark,
# fits its window and finds what is searched for, without a word on the console.
# usage: site.sh SOURCE CHROMIUM
set -eu
chromium=$2
folder=$(mktemp -d /tmp/wattle-site-XXXXXX)
trap 'rm -rf "$folder"' EXIT

fail() {
    printf 'site: %s\n' "$*" >&2
    exit 1
}

sh "$1/scripts/site" "$folder"
cd "$folder"

# Copies of the pages that look around, in frames of a page that gathers what they say.
cat >look.js <<'LOOK'
addEventListener('load', async () => {
  const faults = [], page = location.pathname.split('/').pop();
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) faults.push('is ' + wide + ' wide in ' + innerWidth);
  for (const image of document.images)
    if (!image.naturalWidth) faults.push('does not show ' + image.src);
  const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).reduce((sum, part) => sum + part / 3, 0);
  const paper = light(getComputedStyle(document.body).backgroundColor), ink = light(getComputedStyle(document.body).color);
  if (location.hash === '#dark' ? paper > 60 || ink < 180 : paper < 200 || ink > 80) faults.push('has letters of ' + ink + ' on ' + paper);
  const box = document.getElementById('search');
  box.value = 'held-out sequences';
  box.dispatchEvent(new Event('input'));
  await load();
  await null;
  if (!document.querySelector('#found a[href^="recover.html"]')) faults.push('does not find what is searched for');
  parent.postMessage('LOOKED ' + page + (faults.length ? ' ' + faults.join('; ') : ': fine'), '*');
});
LOOK
pages=
for page in *.html; do
    pages="$pages $page"
    sed 's|</body>|<script src="look.js"></script></body>|' "$page" >"look-$page"
done
for scheme in light dark; do
    {
        echo '<!DOCTYPE html><meta name="color-scheme" content="light dark"><title>frames</title><link rel="icon" href="data:,">'
        echo '<script>addEventListener("message", (event) => document.body.append(event.data, document.createElement("br")));</script><body>'
        for page in $pages; do
            for width in 1280 390; do
                echo "<iframe src=\"look-$page#$scheme\" width=$width height=900></iframe>"
            done
        done
    } >"frames.html"
    [ "$scheme" = dark ] && preferred=0 || preferred=1
    timeout -k 5 600 "$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --user-data-dir="$folder/profile" --blink-settings=preferredColorScheme=$preferred --enable-logging=stderr \
        --window-size=1400,1000 --virtual-time-budget=20000 --dump-dom "file://$folder/frames.html" >dom 2>log ||
        fail "chromium fails: $(tail -n 3 log)"
    ! grep CONSOLE log || fail "the console complains"
    sed 's/<br>/\n/g' dom | grep -o 'LOOKED .*' >said || true
    ! grep 'html ' said || fail "$scheme: faults above"
    # shellcheck disable=SC2086 # one word a page
    [ "$(grep -c ': fine' said)" = $((2 * $(echo $pages | wc -w))) ] ||
        fail "$scheme: $(wc -l <said) of the frames looked around"
done
echo "site: fine"
