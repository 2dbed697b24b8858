// Jobs that wait, by their age.

// Ages across, the darker the more.
function shapeTable(shape, title, name) {
  const bounds = shape.bucket_ms;
  const most = Math.max(1, ...shape.rows.flatMap(row => row.counts));
  const cell = count => (count
    ? h("span.heat heat" + Math.ceil(5 * Math.log1p(count) / Math.log1p(most)), grouped(count))
    : "–");
  const columns = [title, "Total.n", ...bounds.map(bound => `<${exact(bound)}.n`),
    (bounds.length ? exact(bounds.at(-1)) + "+" : "Any age") + ".n"];
  const rows = shape.rows.slice(0, 100).map(row =>
    ({ key: row.key, cells: [name(row.key), grouped(row.total), ...row.counts.map(cell)] }));
  if (shape.rows.length > 1) rows.unshift({ key: "\u0000", class: "total",
    cells: ["all", grouped(shape.total.total),
    ...shape.total.counts.map(count => (count ? grouped(count) : "–"))] });
  return table("Kept jobs that are not over, by age", columns, rows, "shape");
}
