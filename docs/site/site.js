// Search over all pages, links to sections, copying of commands. Pages read the same without it.
'use strict';
const form = document.querySelector('form'), box = document.getElementById('search'), found = document.getElementById('found');
let loading;

// search-index.js sets searchIndex: [page, anchor, page title, section, text], one row a section.
function load() {
    loading ??= new Promise((done) => {
        const script = document.createElement('script');
        script.src = 'search-index.js';
        script.onload = done;
        document.head.append(script);
    });
    return loading;
}

// Sections that have every word; words in titles count most.
function look(words) {
    const hits = [];
    for (const [page, anchor, title, section, text] of searchIndex) {
        const heads = (title + ' ' + section).toLowerCase(), body = text.toLowerCase();
        let score = 0;
        for (const word of words) {
            const here = (section.toLowerCase().includes(word) ? 8 : heads.includes(word) ? 3 : 0) +
                Math.min(body.split(word).length - 1, 4);
            score = here ? score + here : -Infinity;
        }
        if (score > 0) hits.push({ score, page, anchor, title, section, text });
    }
    return hits.sort((a, b) => b.score - a.score).slice(0, 12);
}

// The text around the first word, with the words marked.
function excerpt(text, words) {
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
    const part = (at ? '…' : '') + text.slice(at, at + 140) + (text.length > at + 140 ? '…' : '');
    const line = document.createElement('small');
    const pattern = new RegExp('(' + words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|') + ')', 'giu');
    part.split(pattern).forEach((piece, i) => {
        const mark = document.createElement(i % 2 ? 'mark' : 'span');
        mark.textContent = piece;
        line.append(mark);
    });
    return line;
}

async function show() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    if (found.hidden) return;
    await load();
    const rows = look(words).map((hit) => {
        const row = document.createElement('a');
        row.href = hit.page + '.html' + (hit.anchor ? '#' + hit.anchor : '');
        row.append(hit.section && hit.section !== hit.title ? hit.title + ' › ' + hit.section : hit.title, excerpt(hit.text, words));
        return row;
    });
    const none = document.createElement('p');
    none.textContent = 'Nothing found.';
    found.replaceChildren(...(rows.length ? rows : [none]));
}

form.hidden = false;
box.addEventListener('focus', load);
box.addEventListener('input', show);
form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
});
addEventListener('keydown', (event) => {
    const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === '/' && !typing) {
        event.preventDefault();
        box.focus();
    } else if (event.key === 'Escape') {
        box.value = '';
        show();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && form.contains(document.activeElement)) {
        const rows = [box, ...found.querySelectorAll('a')];
        event.preventDefault();
        rows[rows.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
    }
});
document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) found.hidden = true;
});

for (const block of document.querySelectorAll('div.sourceCode')) {
    const button = document.createElement('button');
    button.className = 'copy';
    button.textContent = 'Copy';
    button.onclick = async () => {
        await navigator.clipboard.writeText(block.querySelector('code').innerText);
        button.textContent = 'Copied';
    };
    block.prepend(button);
}
for (const head of document.querySelectorAll('main :is(h2, h3, h4)[id]')) {
    const link = document.createElement('a');
    link.className = 'at';
    link.href = '#' + head.id;
    link.textContent = '#';
    link.setAttribute('aria-label', 'Link to ' + head.textContent);
    head.append(link);
}
