#!/bin/sh
# The report in a browser: nothing complains, nothing scrolls sideways on a desk or a telephone, a dark
# page is dark, figures can be explored and tell the numbers of the files, and the script prints nothing.
# usage: chromium.sh WATTLE CHROMIUM
set -eu
wattle=$1
chromium=$2
here=$(cd "$(dirname "$0")" && pwd)
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

# A copy of the page that lets a second script in, which looks around. Of the figures in `tried` it has
# the numbers of the files; their names have no commas.
tried="curve-heads curve-dimension parity-found recover-samples construct-error"
{
    sed '/http-equiv="Content-Security-Policy"/d; s|</body>||; s|</html>||' report.html
    for figure in $tried; do
        grep -q "<figure id=\"$figure\"" report.html || continue
        printf '<script type="text/plain" id="csv-%s">' "$figure"
        cat "report-figures/$figure.csv"
        printf '</script>\n'
    done
    printf '<script>\n'
    printf '(() => {\n'
    cat "$here/chromium.js"
    printf '})();\n</script></body></html>\n'
} >look.html
[ "$(grep -c 'id="csv-' look.html)" -ge 3 ] || fail "few figures are tried"

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

# browse SCHEME PAGE OPTION...: what the console heard goes to log.
browse() {
    scheme=1
    [ "$1" = dark ] && scheme=0
    page=$2
    shift 2
    timeout -k 5 120 "$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --hide-scrollbars --no-first-run --user-data-dir="$folder/profile" \
        --blink-settings=preferredColorScheme=$scheme --enable-logging=stderr \
        --window-size=1400,1000 --virtual-time-budget=5000 "$@" "file://$folder/$page" 2>log ||
        fail "chromium fails: $(tail -n 3 log)"
}

for width in 1280 390; do
    for scheme in light dark; do
        said=$(browse $scheme "frame-$width-$scheme.html" --dump-dom | grep -o 'LOOKED [^<]*' | tail -n 1)
        case $said in
        "LOOKED fine"*) ;;
        *) fail "at $width, $scheme: ${said:-the script did not run: $(grep CONSOLE log)}" ;;
        esac
        grep -q 'CONSOLE.*probe: the console is heard' log || fail "the console is not heard"
        printf '%s %s: %s\n' $width $scheme "$said"
    done
done
browse light report.html --dump-dom >dom
if grep CONSOLE log; then
    fail "the console complains"
fi
grep -q 'class="live drawing"' dom || fail "the page's own script does not run under its policy"

# Printed, the page is the same without its script, and after somebody has pressed all there is to press.
sed '/http-equiv="Content-Security-Policy"/d; s|</body>|<script>addEventListener("load", () => {\
for (const one of document.querySelectorAll("figure button")) if (one.textContent !== "reset") one.click();\
});</script></body>|' report.html >pressed.html
sed '/^<script>/,/^<\/script>/d' report.html >still.html
grep -q "'use strict'" still.html && fail "the script is still there"
for page in report.html still.html pressed.html; do
    browse light "$page" --no-pdf-header-footer --disable-pdf-tagging --print-to-pdf=page.pdf
    sed 's/^\/\(CreationDate\|ModDate\) .*//; s/file:[^ )]*html//' page.pdf | cksum
done >prints
grep -q one.click pressed.html || fail "nothing is pressed"
[ "$(sort -u prints | wc -l)" = 1 ] || fail "prints differ: $(cat prints)"
echo "chromium: fine"
