// The machine's boxes, a card for each rank with a row for each of its buffers, and the arrows of the current step.
const UNIT = 100; // of the drawing, in a cell's length
const GAP = 34; // between cards, for the arrows
const MOST_CELLS = 32; // shown of one buffer; each then stands for several blocks

const drawing = byId("drawing");
drawing.setAttribute("viewBox", `-10 -10 ${plan.width * UNIT + 20} ${plan.height * UNIT + 20}`);
const definitions = element(drawing, "defs");
for (const level of plan.levels) {
  const marker = element(definitions, "marker", {
    id: `head-${level.name}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 14, markerHeight: 14,
    markerUnits: "userSpaceOnUse", orient: "auto-start-reverse",
  });
  element(marker, "path", { d: "M0 0L10 5L0 10z", class: `head level-${level.name}` });
  if (!level.shown) continue;
  const entry = element(byId("legend"), "span");
  const sample = element(entry, "svg", { viewBox: "0 0 40 10", "aria-hidden": "true" });
  element(sample, "path", { d: "M0 5H40", class: `arrow level-${level.name}` });
  entry.append(level.text);
}
for (const box of plan.boxes) {
  const [x, y, width, height] = box.place.map((length) => length * UNIT);
  element(drawing, "rect", { x, y, width, height, rx: 12, class: `box ${box.level}` });
  element(drawing, "text", { x: x + 12, y: y + 20, class: "box-title" }, box.title);
}

const colour = (block) => `hsl(${(212 + block * 137.508) % 360} 70% 50%)`;
const cards = [];
const rows = plan.tmp.some((blocks) => blocks > 0) ? 3 : 2;
const cardWidth = plan.cell[0] * UNIT - GAP;
const cardHeight = plan.cell[1] * UNIT - GAP;

function drawCells(card, rank, buffer, top, height) {
  const blocks = blocksOf(rank, buffer);
  const count = Math.min(blocks, MOST_CELLS);
  const left = 40;
  const width = (cardWidth - left - 8) / Math.max(count, 1);
  const cells = [];
  for (let cell = 0; cell < count; cell++) {
    const x = left + cell * width;
    const fill = element(card, "rect", { x, y: top + height, width, height: 0, class: "fill" });
    const frame = element(card, "rect", { x, y: top, width, height, class: "cell" });
    const label = width >= 40 ? element(card, "text", { x: x + width / 2, y: top + height / 2 + 4.5, class: "held" }) : null;
    const low = Math.floor((cell * blocks) / count);
    const high = Math.floor(((cell + 1) * blocks) / count);
    cells.push({ fill, frame, label, top, height, room: Math.floor(width / 7.5), low, high, shown: "" });
  }
  return cells;
}

function drawCard(rank) {
  const [x, y] = plan.at[rank];
  const card = element(drawing, "g", {
    class: "card", tabindex: 0, role: "button", "data-rank": rank,
    transform: `translate(${x * UNIT - cardWidth / 2} ${y * UNIT - cardHeight / 2})`,
  });
  element(card, "rect", { width: cardWidth, height: cardHeight, rx: 8, class: "back" });
  element(card, "text", { x: 8, y: 20, class: "name" }, String(rank));
  const tick = element(card, "text", { x: cardWidth - 8, y: 20, class: "tick" });
  const height = (cardHeight - 32) / rows;
  const cells = [];
  for (let buffer = 0; buffer < rows; buffer++) {
    const top = 28 + buffer * height;
    if (blocksOf(rank, buffer) > 0) element(card, "text", { x: 8, y: top + height / 2 + 3, class: "buffer" }, buffers[buffer]);
    cells.push(drawCells(card, rank, buffer, top, height - 5));
  }
  card.addEventListener("click", () => chooseRank(rank));
  card.addEventListener("keydown", (event) => {
    if (event.key === "Enter") chooseRank(rank);
  });
  cards.push({ card, tick, cells });
}
for (let rank = 0; rank < plan.ranks; rank++) drawCard(rank);
const arrows = element(drawing, "g");

function paintCell(cell, base) {
  let share = 0;
  let same = true;
  for (let block = cell.low; block < cell.high; block++) {
    share += plan.sizes[held[base + block]] / plan.complete;
    same = same && held[base + block] === held[base + cell.low];
  }
  share = Math.min(1, share / (cell.high - cell.low));
  const set = held[base + cell.low];
  const shown = `${same ? set : -1}/${share}/${vector[base + cell.low]}`;
  if (shown === cell.shown) return;
  cell.shown = shown;
  const height = share > 0 ? Math.max(share * cell.height, 2) : 0;
  cell.fill.setAttribute("fill", colour(vector[base + cell.low]));
  cell.fill.setAttribute("y", cell.top + cell.height - height);
  cell.fill.setAttribute("height", height);
  if (!cell.label) return;
  const name = plan.sets[set].length <= cell.room ? plan.sets[set] : `${plan.sizes[set]} ranks`;
  cell.label.textContent = same ? name : "...";
}

function finished(rank) {
  if (!plan.results.includes(rank)) return false;
  for (let block = 0; block < plan.blocks; block++) {
    if (plan.sizes[held[offset(rank, 1) + block]] < plan.complete) return false;
  }
  return true;
}

function paintRank(rank) {
  const { card, tick, cells } = cards[rank];
  cells.forEach((row, buffer) => row.forEach((cell) => paintCell(cell, offset(rank, buffer))));
  const done = finished(rank);
  card.classList.toggle("done", done);
  tick.textContent = done ? "\u2713" : "";
  card.setAttribute("aria-label", `rank ${rank}${done ? ", has the result" : ""}`);
}

function mark(rank, buffer, first, last, kind) {
  for (const cell of cards[rank].cells[buffer] || []) {
    if (cell.high > first && cell.low <= last) cell.frame.classList.add(kind);
  }
}

// From the border of one card to the border of the other, a little bent.
function drawArrow(source, target, level, many) {
  const ends = [plan.at[source], plan.at[target]].map(([x, y]) => [x * UNIT, y * UNIT]);
  const border = ([x, y], [otherX, otherY]) => {
    const [dx, dy] = [otherX - x, otherY - y];
    const part = Math.min(cardWidth / 2 / Math.abs(dx || 1e-9), cardHeight / 2 / Math.abs(dy || 1e-9));
    return [x + dx * part, y + dy * part];
  };
  const [start, end] = [border(ends[0], ends[1]), border(ends[1], ends[0])];
  const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
  const bend = Math.hypot(dx, dy) > 1.5 * cardWidth ? 0.12 : 0;
  const middle = [(start[0] + end[0]) / 2 + bend * dy, (start[1] + end[1]) / 2 - bend * dx];
  element(arrows, "path", {
    d: `M${start}Q${middle} ${end}`, class: `arrow level-${level}${many ? " many" : ""}`, "marker-end": `url(#head-${level})`,
  });
}
