// Tables, and titles with what stands beside them.

// A table that becomes cards where there is no room for it, and stays one to who hears it. Columns are "title.class"; a
// row is {key, class, cells}. A column in which nothing stands is left out.
function table(caption, titles, found, classes = "") {
  const told = titles.map((_, index) => !index || found.some(({ cells }) => cells[index] !== "–"));
  const columns = titles.filter((_, index) => told[index]);
  const rows = found.map(row => ({ ...row, cells: row.cells.filter((_, index) => told[index]) }));
  const cell = (content, index) => {
    const [title, look = ""] = columns[index].split(".");
    // On a card there is no room for what is not there.
    const kind = `.${look} ${content === "–" ? "void" : ""}`;
    return index ? h("td" + kind, { role: "cell", "data-title": title }, h("span", content))
      : h("th" + kind, { role: "rowheader", scope: "row", "data-title": title }, content);
  };
  return h("div.scroll",
    h("table." + classes, { role: "table" },
      h("caption.unseen", caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
        columns.map(column => {
          const [title, look = ""] = column.split(".");
          return h("th." + look, { scope: "col", role: "columnheader" }, title);
        }))),
      h("tbody", { role: "rowgroup" }, rows.map(row =>
        h(`tr.${row.class || ""}#${row.key}`, { role: "row" }, row.cells.map(cell))))));
}

// Titles and what stands beside them; rows are [title, content], without content left out.
function sheet(rows) {
  return h("dl.sheet", rows.filter(([, content]) => !isNothing(content)).map(([title, content]) =>
    h(typeof content === "string" && content.length > 48 ? "div.long" : "div", h("dt", title), h("dd", content))));
}
