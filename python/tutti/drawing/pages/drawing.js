// The machine's boxes, a card for each rank with a row for each of its buffers, and the arrows of
// the current step.
const UNIT = 100; // units of the drawing in the length of a cell
const GAP = 34; // space between cards, for the arrows
const MOST_CELLS = 32; // the most cells of a buffer; with more blocks a cell stands for several

const drawing = byId("drawing");
drawing.setAttribute("viewBox", `-10 -10 ${plan.width * UNIT + 20} ${plan.height * UNIT + 20}`);
const definitions = element(drawing, "defs");
for (const level of plan.levels) {
  defineHead(definitions, `head-${level.name}`, 14, `head level-${level.name}`);
  if (!level.shown) continue;
  const entry = element(byId("legend"), "span");
  const sample = element(entry, "svg", { viewBox: "0 0 40 10", "aria-hidden": "true" });
  element(sample, "path", { d: "M0 5H40", class: `arrow level-${level.name}` });
  entry.append(level.text);
}
drawBoxes(drawing, plan.boxes.map((box) => ({ ...box, place: box.place.map((length) => length * UNIT) })), 12);

const colour = (item) => `hsl(${(212 + Math.floor(item / plan.hues) * 137.508) % 360} 70% 50%)`;
const cards = [];
const rows = plan.blocks[2].some((blocks) => blocks > 0) ? 3 : 2;
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
    cells.push({ fill, frame, label, top, height, room: Math.floor(width / 7.5), low, high, full: complete(rank, buffer), shown: "" });
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
    share += plan.sizes[held[base + block]] / cell.full;
    same = same && held[base + block] === held[base + cell.low];
    same = same && (!plan.addressed || items[base + block] === items[base + cell.low]);
  }
  share = Math.min(1, share / (cell.high - cell.low));
  const set = held[base + cell.low];
  const shown = `${same ? set : -1}/${share}/${items[base + cell.low]}`;
  if (shown === cell.shown) return;
  cell.shown = shown;
  const height = share > 0 ? Math.max(share * cell.height, 2) : 0;
  cell.fill.setAttribute("fill", colour(items[base + cell.low]));
  cell.fill.setAttribute("y", cell.top + cell.height - height);
  cell.fill.setAttribute("height", height);
  if (!cell.label) return;
  cell.label.textContent = same ? nameOf(set, items[base + cell.low], cell.room) : "...";
}

// The source of the data, and its destination, in at most `room` letters.
function nameOf(set, item, room) {
  const whose = plan.sets[set];
  const full = plan.addressed && whose !== "" ? `${whose} \u2192 ${item % plan.ranks}` : whose;
  if (full.length <= room) return full;
  return whose.length <= room ? whose : `${plan.sizes[set]} ranks`;
}

function finished(rank) {
  if (plan.goal[rank].length === 0) return false;
  for (let block = 0; block < blocksOf(rank, 1); block++) {
    if (!holdsResult(rank, block)) return false;
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

function drawArrow(source, target, level, many) {
  const [from, to] = [source, target].map((rank) => plan.at[rank].map((length) => length * UNIT));
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  // A long arrow is bent, so that it does not run along a row of cards.
  const { path } = curveBetween(from, to, squareBorder(cardWidth, cardHeight), length > 2.4 * cardWidth ? 0.06 * length : 0);
  element(arrows, "path", {
    d: path, class: `arrow level-${level}${many ? " many" : ""}`, "marker-end": `url(#head-${level})`,
  });
}
