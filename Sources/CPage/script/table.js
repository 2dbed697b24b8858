// Tables, and titles with what stands beside them.

// A title that sorts: the way round that is of use first, then the other, then none. `sort` is a column's name, or
// "-name" for the most first; `to` goes there.
function sortButton(title, name, isNumber, { sort = "", to }) {
  const first = isNumber ? "-" + name : name;
  const second = isNumber ? name : "-" + name;
  return h("button.sort", { type: "button", on: { click: () => to(sort === first ? second : sort === second ? "" : first) } }, title);
}

// The rows by a value of theirs, as `sort` says; those without one stand last.
const alphabet = new Intl.Collator("en", { numeric: true });
function sorted(rows, sort, value) {
  const way = sort.startsWith("-") ? -1 : 1;
  const order = (a, b) => typeof a === "string" ? alphabet.compare(a, b) : a - b;
  return rows.map(row => [value(row), row])
    .sort(([a], [b]) => a == null || b == null ? (a == null) - (b == null) : way * order(a, b)).map(([, row]) => row);
}

// A table that becomes cards where there is no room for it, and stays one to who hears it. Columns are
// "title.class.name", of which those with a name sort; a row is {key, class, cells}, and {key, class, has, cells} where
// cells are made of what `has` says is there. A column in which nothing stands is left out.
function table(caption, titles, found, classes = "", sorting = {}) {
  const isThere = ({ has, cells }, index) => has ? has(index) : cells[index] !== "–";
  const told = titles.map((_, index) => !index || found.some(row => isThere(row, index)));
  const columns = titles.map(column => column.split("."));
  // Empty cells of each column, which are copied sooner than made. Nothing stands for what is not there, and on a card it
  // has no room.
  const models = columns.map(([title, look = ""], index) => [
    index ? h(`td.${look}`, { role: "cell", "data-title": title })
      : h(`th.${look}`, { role: "rowheader", scope: "row", "data-title": title }),
    h(`td.${look} void`, { role: "cell", "data-title": title })]);
  const cell = (content, index) => {
    const isVoid = content === "–";
    const node = models[index][Number(isVoid)].cloneNode();
    node.key = String(index);
    if (isVoid) return node;
    add(node, [index ? h("span", content) : content]);
    // There it may be cut off.
    const text = isTall && node.textContent;
    if (text) node.title = text;
    return node;
  };
  const line = (row, index) => h(`tr.${row.class || ""}#${row.key}`, { role: "row", "aria-rowindex": isTall && index + 2 },
    (row.has ? row.cells() : row.cells).map((content, index) => told[index] && cell(content, index)));
  const isTall = found.length > TALL && found[0].has;
  const { sort } = sorting;
  const body = isTall ? tall.body(found, line) : found.map(line);
  return h(isTall ? "div.vast" : "div.scroll",
    h(`table.${classes}${isTall ? " tall" : ""}`, { role: "table", "aria-rowcount": isTall && found.length + 1 },
      h("caption.unseen", caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
        columns.map(([title, look = "", name], index) => told[index] && h(`th.${look}#${index}`, { scope: "col", role: "columnheader",
          "aria-sort": name && (sort === name ? "ascending" : sort === "-" + name ? "descending" : "none") },
        name ? sortButton(title, name, /^n\b/.test(look), sorting) : title)))),
      h("tbody", { role: "rowgroup" }, body)));
}

// Titles and what stands beside them; rows are [title, content], without content left out.
function sheet(rows) {
  return h("dl.sheet", rows.filter(([, content]) => !isNothing(content)).map(([title, content]) =>
    h(content.length > (Array.isArray(content) ? 1 : 48) ? "div.long" : "div", h("dt", title), h("dd", content))));
}
