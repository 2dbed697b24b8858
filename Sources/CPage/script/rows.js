// The rows of a very long table, of which the document has those that can be seen and some on both sides.

// A table with more rows is a long one.
const TALL = 100;
// Rows on each side of those that are seen, and how near the end of the drawn ones others are drawn.
const MARGIN = 16;
const NEAR = 8;
// Rows on each side after a leap, until the next frame.
const LEAP = 2;
const MOST_DRAWN = 180;

// The one long table of a view.
const tall = {
  rows: [], places: new Map(), line: null, from: 0, to: 0, height: 30, timer: null, onRest: () => {},

  get table() { return document.querySelector(".tall"); },

  // The rows that are seen, of so many as there are.
  seen(count) {
    const place = this.table?.tBodies[0].getBoundingClientRect();
    if (!place) return [0, Math.ceil(innerHeight / this.height)];
    const [first, last] = [-place.top, innerHeight - place.top].map(y => Math.min(count, Math.max(0, y / this.height)));
    return [Math.floor(first), Math.ceil(last)];
  },

  // Those and some on both sides; but few at first where no row of before is seen, so that no task is long.
  range(count) {
    const [first, last] = this.seen(count);
    const margin = this.to && (first >= this.to || last <= this.from) ? LEAP : MARGIN;
    const from = Math.max(0, Math.min(first - margin, count - MARGIN));
    return [from, Math.min(count, Math.max(last, from) + margin, from + MOST_DRAWN)];
  },

  // The document has the rows of the range, the one that the keyboard is at with those beside it, and gaps as high
  // as the rows that are left out. A row that `isDrawn` stays as it is.
  pieces(isDrawn) {
    const at = this.places.get(this.table?.tBodies[0].contains(document.activeElement)
      ? document.activeElement.closest("tr").key : undefined);
    const wanted = new Set(at === undefined ? [] : [at - 1, at, at + 1].filter(index => this.rows[index]));
    for (let index = this.from; index < this.to; index += 1) wanted.add(index);
    const pieces = [];
    let next = 0;
    const gap = end => end > next && pieces.push(h(`tr.gap#\u0000${pieces.length}`, { role: "presentation", "aria-hidden": "true" },
      h("td", { role: "presentation", height: (end - next) * this.height })));
    for (const index of [...wanted].sort((a, b) => a - b)) {
      gap(index);
      const row = this.rows[index];
      const { key } = row;
      pieces.push(isDrawn?.has(key) ? Object.assign(document.createElement("tr"), { key, isSame: true }) : this.line(row, index));
      next = index + 1;
    }
    gap(this.rows.length);
    return pieces;
  },

  // The rows as they were read, in their order.
  body(rows, line) {
    Object.assign(this, { rows, line, places: new Map(rows.map(({ key }, index) => [key, index])) });
    [this.from, this.to] = this.range(rows.length);
    return this.pieces();
  },

  // Draws others where the window has moved: those that are seen at once, and those beside them in the next frame.
  slide(isNext) {
    const body = this.table?.tBodies[0];
    if (!body) return;
    const count = this.rows.length;
    const [first, last] = this.seen(count);
    const isHigh = this.measure(body);
    if (!isHigh && (first - NEAR >= this.from || !this.from) && (last + NEAR <= this.to || this.to === count)) return;
    if (!isNext) requestAnimationFrame(() => this.slide(true));
    if (!isNext && !isHigh && first >= this.from && last <= this.to) return;
    [this.from, this.to] = this.range(count);
    morph(body, h("tbody", this.pieces(new Set([...body.rows].map(({ key }) => key)))));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.onRest(), 150);
  },

  // Whether the rows are of another height than was thought; they are all of one.
  measure(body) {
    const rows = [...body.rows].filter(({ key }) => { const at = this.places.get(key); return at >= this.from && at < this.to; });
    if (rows.length < 2) return false;
    const tops = [rows[0], rows.at(-1)].map(row => row.getBoundingClientRect().top);
    const height = (tops[1] - tops[0]) / (rows.length - 1);
    if (!height || Math.abs(height - this.height) < 0.01) return false;
    this.height = height;
    return true;
  },

  // Draws, and leaves the first row that is seen where it was seen, unless it goes far.
  keep(draw) {
    const top = () => this.table?.tBodies[0].getBoundingClientRect().top;
    const before = top();
    const [first] = this.seen(this.rows.length);
    const key = this.rows[first]?.key;
    draw();
    if (before < 0 && top() !== undefined) {
      const way = ((this.places.get(key) ?? first) - first) * this.height;
      scrollBy({ top: top() - before + (Math.abs(way) < innerHeight ? way : 0), behavior: "instant" });
    }
    this.slide();
  },
};

for (const type of ["scroll", "resize"]) {
  let isDue = false;
  addEventListener(type, () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      tall.slide();
    });
  }, { passive: true });
}
