-- For pandoc, one page at a time: the first heading becomes the title, links lead to the pages of the
-- site, tables can scroll, and sections go to the index of the search.
-- Metadata: source (path in the repository), page (name in the site), menu (its name in the menu), work
-- (folder for what is noted).

local page, source, work
local rows = {}

local function note(file, line)
    local out = assert(io.open(work .. '/' .. file, 'a'))
    out:write(line, '\n')
    out:close()
end

-- Path of a link, seen from the root of the repository.
local function from_root(path)
    local folder = source:match('^(.*)/[^/]*$')
    local whole = folder and (folder .. '/' .. path) or path
    local parts = {}
    for part in whole:gmatch('[^/]+') do
        if part == '..' then
            assert(table.remove(parts), source .. ': ' .. path .. ' leads out of the repository')
        elseif part ~= '.' then
            parts[#parts + 1] = part
        end
    end
    return table.concat(parts, '/')
end

-- Where a file of the repository lies in the site.
local function place(path)
    if path == 'README.md' then return 'index.html' end
    if path == 'docs/index.md' then return 'pages.html' end
    local name = path:match('^docs/([%w-]+)%.md$') or path:match('^([%w-]+)%.md$')
    if name then return name:lower() .. '.html' end
    local there = path:match('^docs/(figures/.*)$') or path
    note('files', path .. '\t' .. there)
    return there
end

local function lead(target)
    if target:match('^%a[%w+.-]*:') or target:match('^#') then return target end
    local path, anchor = target:match('^([^#]*)(.*)$')
    return place(from_root(path)) .. anchor
end

local function quote(text)
    text = text:gsub('%s+', ' '):gsub('[\\"]', '\\%0'):gsub('</', '<\\/')
    return '"' .. text .. '"'
end

local function plain(block)
    if block.t == 'CodeBlock' then return block.text end
    if block.t == 'Table' then
        local cells = {}
        pandoc.walk_block(block, { Plain = function(cell) cells[#cells + 1] = pandoc.utils.stringify(cell) end })
        return table.concat(cells, ' ')
    end
    if block.t == 'BulletList' or block.t == 'OrderedList' then
        local items = {}
        for _, item in ipairs(block.content) do
            for _, part in ipairs(item) do items[#items + 1] = plain(part) end
        end
        return table.concat(items, ' ')
    end
    return pandoc.utils.stringify(block)
end

local function head(document)
    page = pandoc.utils.stringify(document.meta.page)
    source = pandoc.utils.stringify(document.meta.source)
    work = pandoc.utils.stringify(document.meta.work)
    local first = document.blocks[1]
    assert(first and first.t == 'Header' and first.level == 1, source .. ' does not start with a title')
    local title = pandoc.utils.stringify(document.meta.menu)
    document.meta.title = pandoc.MetaInlines(first.content)
    document.blocks:remove(1)
    local opening = document.blocks[1]
    assert(opening and opening.t == 'Para', source .. ' does not say first what it is for')
    document.meta.description = pandoc.utils.stringify(opening)
    local anchor, section, text = '', title, {}
    local function close()
        rows[#rows + 1] = '[' .. table.concat({ quote(page), quote(anchor), quote(title), quote(section),
            quote(table.concat(text, ' ')) }, ',') .. '],'
    end
    for _, block in ipairs(document.blocks) do
        if block.t == 'Header' and block.level <= 3 then
            close()
            anchor, section, text = block.identifier, pandoc.utils.stringify(block), {}
        else
            text[#text + 1] = plain(block)
        end
    end
    close()
    note('index', table.concat(rows, '\n'))
    return document
end

local function scroll(block)
    for i, column in ipairs(block.colspecs) do block.colspecs[i] = { column[1], nil } end
    return pandoc.Div({ block }, { class = 'table', tabindex = '0', role = 'region', ['aria-label'] = 'Table' })
end

return {
    { Pandoc = head },
    {
        Link = function(link)
            link.target = lead(link.target)
            return link
        end,
        Image = function(image)
            image.src = lead(image.src)
            return image
        end,
        Table = scroll,
    },
}
