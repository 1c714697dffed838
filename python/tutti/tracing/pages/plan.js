// The plan of the chosen operation on the machine's tree: nodes, numa regions and ranks, with an arrow for each hand-over. Ranks
// take the colour of what they do at the moment of the cursor.
const WIDTH = 498;
const HIGHEST = 220; // half the height of all ellipses, one below the other, unless their ranks need more
const MOST_NUMBERED = 40; // the numbers of more arrows would hide the plan
// Where the number of an arrow may stand, in the order in which places are tried.
const SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];
const DIGIT = 6.5, NUMBER_HEIGHT = 11;

// The arrows, from the programs of the operation's ranks: one where a rank takes data from another's memory (or writes data
// there), and one for each wait without such data.
function edgesOf(operation) {
  if (operation.edges) return operation.edges;
  const found = new Map();
  const add = (from, to, transfer, kind) => {
    if (from === to) return;
    const key = `${from} ${to} ${kind}`;
    if (!found.has(key)) found.set(key, { from, to, kind, transfers: new Set() });
    found.get(key).transfers.add(transfer);
  };
  for (const call of operation.calls) {
    const member = call.program.member;
    for (const [, transfer, , operands] of call.program.steps)
      operands.forEach(([space, other], place) => {
        if (space !== "slot" && space !== "line") return;
        if (place === 0) add(member, other, transfer, "data");
        else add(other, member, transfer, "data");
      });
    for (const [kind, transfer, peer, , , [, rounds]] of call.program.steps) {
      if (peer < 0 || trace.kinds[kind].group !== 0 || rounds > 0) continue;
      if (!found.has(`${peer} ${member} data`)) add(peer, member, transfer, "order");
    }
  }
  operation.edges = [...found.values()];
  return operation.edges;
}

// The nodes in the tree's order, each with its numa regions, and each region with its members.
function nodesOf(operation) {
  const nodes = new Map();
  operation.members.forEach((rank, member) => {
    const known = trace.ranks[rank] || { node: -1, numa: -1 };
    if (!nodes.has(known.node)) nodes.set(known.node, { node: known.node, regions: new Map() });
    const regions = nodes.get(known.node).regions;
    if (!regions.has(known.numa)) regions.set(known.numa, { numa: known.numa, members: [] });
    regions.get(known.numa).members.push(member);
  });
  const sorted = [...nodes.values()].sort((a, b) => a.node - b.node);
  return sorted.map(({ node, regions }) => ({ node, regions: [...regions.values()].sort((a, b) => a.numa - b.numa) }));
}

// The radius of the members' circles, and half the width and height of the ellipse on which they stand, for a region of `most`
// members where `rows` regions stand one below the other. No arrow between two circles runs through a third.
function ellipse(most, width, rows) {
  let radius = most <= width / 12 ? 11 : 8;
  if (most <= width / 40) radius = 15;
  const across = width / 2 - radius - 14;
  // Room for the circles on the ellipse's edge, by its rough circumference.
  const needed = (most * (2 * radius + 7)) / Math.PI - across;
  const wanted = Math.max(Math.min(across, 20 + most * 14, HIGHEST / rows), 2 * radius);
  return { radius, across, high: most === 1 ? 4 : Math.max(needed, wanted) };
}

function titleOf({ node, regions }) {
  if (node < 0) return "elsewhere";
  const only = regions.length === 1 && regions[0].numa >= 0 ? `, numa ${regions[0].numa}` : "";
  return `node ${node} (${trace.nodes[node].host})${only}`;
}

// The boxes of the machine's tree, and for each member its own place and the middle of its innermost box. Where the ranks of a
// node are in one numa region, the region has no box.
function layOut(operation) {
  const TITLE = 22, GAP = 10;
  const nodes = nodesOf(operation);
  const columns = nodes.length === 1 ? 1 : 2;
  const width = (WIDTH - 2 * GAP - (columns - 1) * GAP) / columns;
  const most = Math.max(...nodes.map((node) => node.regions.length));
  const beside = columns === 1 && most > 1 ? 2 : 1, inset = most > 1 ? GAP : 0;
  const regionWidth = (width - 2 * inset - (beside - 1) * GAP) / beside;
  const counts = nodes.flatMap((node) => node.regions.map((region) => region.members.length));
  const rows = Math.ceil(nodes.length / columns) * Math.ceil(most / beside);
  const { radius, across, high } = ellipse(Math.max(...counts), regionWidth, rows);
  const regionHeight = 2 * (high + radius) + GAP + (most > 1 ? TITLE : 0);
  const height = TITLE + Math.ceil(most / beside) * (regionHeight + inset) + GAP / 2;
  const boxes = [], places = new Map();
  nodes.forEach((node, i) => {
    const left = GAP + (i % columns) * (width + GAP), top = GAP + Math.floor(i / columns) * (height + GAP);
    boxes.push({ level: "node", title: titleOf(node), place: [left, top, width, height] });
    node.regions.forEach((region, k) => {
      const x = left + inset + (k % beside) * (regionWidth + GAP);
      const y = top + TITLE + Math.floor(k / beside) * (regionHeight + inset);
      const title = region.numa < 0 ? "over several numa" : `numa ${region.numa}`;
      if (node.regions.length > 1) boxes.push({ level: "numa", title, place: [x, y, regionWidth, regionHeight] });
      const centre = [x + regionWidth / 2, y + regionHeight / 2 + (most > 1 ? TITLE / 2 : 0)];
      region.members.forEach((member, place) => {
        const angle = (place / region.members.length) * 2 * Math.PI - Math.PI / 2;
        const onEdge = [centre[0] + Math.cos(angle) * across, centre[1] + Math.sin(angle) * high];
        places.set(member, { centre, at: region.members.length === 1 ? centre : onEdge });
      });
    });
  });
  return { boxes, places, radius, height: Math.ceil(nodes.length / columns) * (height + GAP) + GAP };
}

// How far an arrow bends: towards the middle of the box, away from the circles beside its two ends. Where two arrows are
// opposite, one of them bends less.
function bendOf(from, to, towards, less) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]], length = Math.hypot(dx, dy);
  const toTheLeft = (towards[0] - (from[0] + to[0]) / 2) * dy - (towards[1] - (from[1] + to[1]) / 2) * dx > 0;
  return (toTheLeft ? 1 : -1) * Math.min(length * (less ? 0.03 : 0.1), less ? 5 : 16);
}

const plan = { edges: [], ranks: new Map(), numbers: [] };

// Puts an arrow's number where it lies on no other number. One without room is left out; the hint
// has it.
function placeNumber(svg, at, label) {
  const width = (label.length + 0.5) * DIGIT;
  const overlaps = ([x, y], other) => Math.abs(x - other.x) < (width + other.width) / 2 && Math.abs(y - other.y) < NUMBER_HEIGHT;
  const place = SHARES.map(at).find((tried) => !plan.numbers.some((other) => overlaps(tried, other)));
  if (!place) return;
  plan.numbers.push({ x: place[0], y: place[1], width });
  element(svg, "text", { class: "number", x: place[0], y: place[1] + 3 }, label);
}

function drawPlan() {
  const operation = state.operation, box = byId("plan");
  box.replaceChildren();
  plan.edges = [];
  plan.numbers = [];
  plan.ranks.clear();
  if (!operation) return;
  const layout = layOut(operation);
  const svg = element(box, "svg", { viewBox: `0 0 ${WIDTH} ${layout.height}`, height: layout.height });
  const definitions = element(svg, "defs");
  defineHead(definitions, "arrow", 8, "head");
  defineHead(definitions, "arrow-lit", 8, "head strong");
  drawBoxes(svg, layout.boxes, 6);
  const edges = edgesOf(operation);
  for (const edge of edges) drawEdge(svg, operation, layout, edge, edges.length <= MOST_NUMBERED);
  operation.members.forEach((rank, member) => drawRank(svg, layout, rank, member));
  colourRanks();
}

function drawEdge(svg, operation, layout, edge, numbered) {
  const opposite = edgesOf(operation).some((other) => other.from === edge.to && other.to === edge.from);
  const { at: from, centre } = layout.places.get(edge.from), { at: to } = layout.places.get(edge.to);
  const bend = bendOf(from, to, centre, opposite && edge.from > edge.to);
  const { path, at } = curveBetween(from, to, roundBorder(layout.radius + 2), bend);
  const drawn = element(svg, "path", { class: edge.kind === "order" ? "edge order" : "edge", d: path, "marker-end": "url(#arrow)" });
  const transfers = [...edge.transfers].sort((a, b) => a - b);
  const label = transfers.length > 3 ? `${transfers[0]}..${transfers[transfers.length - 1]}` : transfers.join(",");
  if (numbered) placeNumber(svg, at, label);
  const touch = element(svg, "path", { class: "touch", d: path });
  touch.addEventListener("mouseenter", () => {
    byId("hint").textContent = `transfer ${label}: rank ${operation.members[edge.from]} to rank ${operation.members[edge.to]}${edge.kind === "order" ? " (order only)" : ""}`;
    light({ edge, test: (step) => operation.calls.includes(step.call) && edgeIsActive(edge, step) });
  });
  touch.addEventListener("mouseleave", () => light(null));
  plan.edges.push([edge, drawn]);
}

function drawRank(svg, layout, rank, member) {
  const [x, y] = layout.places.get(member).at;
  const group = element(svg, "g", { class: rank === state.rank ? "rank chosen" : "rank" });
  const circle = element(group, "circle", { cx: x, cy: y, r: layout.radius });
  const text = element(group, "text", { x, y }, rank >= 0 ? String(rank) : "?");
  if (layout.radius < 9) text.style.fontSize = "8px";
  element(group, "title", {}, rank >= 0 ? `rank ${rank}, cores ${trace.ranks[rank].cores}` : "a rank of another world");
  circle.addEventListener("click", () => chooseRank(rank));
  plan.ranks.set(rank, { group, circle });
}

// Whether a step waits for what an arrow brings, or moves it. A wait for an earlier round of the ring is until the peer has
// read what this rank gave it then. A step that tells others belongs to no arrow.
function edgeIsActive(edge, step) {
  const member = step.call.program.member, group = groupOf(step);
  if (backOf(step)[1] > 0) return edge.from === member && edge.to === step.peer;
  if (group === 0) return edge.to === member && edge.from === step.peer;
  return group !== 3 && edge.transfers.has(step.transfer) && (edge.to === member || edge.from === member);
}

function colourRanks() {
  const operation = state.operation;
  if (!operation) return;
  const now = operation.calls.map((call) => (state.time === null ? null : stepAt(call, state.time)));
  operation.calls.forEach((call, i) => {
    const drawn = plan.ranks.get(call.rank);
    if (!drawn) return;
    const inside = state.time !== null && state.time >= call.begin && state.time <= call.end;
    const colour = inside ? OTHER : "#7d8894";
    drawn.circle.style.fill = now[i] ? COLOURS[groupOf(now[i])] : colour;
    drawn.circle.style.fillOpacity = state.time === null || inside ? 1 : 0.45;
    drawn.group.setAttribute("class", call.rank === state.rank ? "rank chosen" : "rank");
  });
  for (const [edge, drawn] of plan.edges) {
    const step = state.lit && state.lit.step;
    const lit = state.lit && (state.lit.edge === edge || (step && edgeIsActive(edge, step)));
    const active = now.some((at) => at && groupOf(at) !== 0 && edgeIsActive(edge, at));
    drawn.setAttribute("class", `edge${edge.kind === "order" ? " order" : ""}${active ? " active" : ""}${lit ? " lit" : ""}`);
    drawn.setAttribute("marker-end", lit || active ? "url(#arrow-lit)" : "url(#arrow)");
  }
}

on("operation", drawPlan);
on("rank", colourRanks);
on("lit", colourRanks);
on("time", colourRanks);
