// The plan of the chosen operation on the machine's tree: nodes, numa regions, ranks; an arrow a hand-over. Ranks take the
// colour of what they do at the moment of the cursor.
const WIDTH = 498;

// Arrows from the programs of the operation's ranks: data that a rank takes from another's memory (or writes there), and
// waits that no data explains.
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
    for (const [kind, transfer, peer] of call.program.steps) {
      if (peer < 0 || trace.kinds[kind].group !== 0 || trace.kinds[kind].name === "wait_reuse") continue;
      if (!found.has(`${peer} ${member} data`)) add(peer, member, transfer, "order");
    }
  }
  operation.edges = [...found.values()];
  return operation.edges;
}

// A box a numa region, and a place for each member on an ellipse in it: no arrow between two of them then runs through a
// third.
function layOut(operation) {
  const regions = new Map();
  operation.members.forEach((rank, member) => {
    const known = trace.ranks[rank];
    const key = known ? `${known.node} ${known.numa}` : "elsewhere";
    if (!regions.has(key)) regions.set(key, { node: known ? known.node : -1, numa: known ? known.numa : -1, members: [] });
    regions.get(key).members.push(member);
  });
  const list = [...regions.values()].sort((a, b) => a.node - b.node || a.numa - b.numa);
  const columns = list.length === 1 ? 1 : 2, most = Math.max(...list.map((region) => region.members.length));
  const width = (WIDTH - 16 - (columns - 1) * 10) / columns;
  const radius = most <= 12 / columns ? 15 : most <= 40 / columns ? 11 : 8;
  const across = width / 2 - radius - 14;
  // Room for the circles on the ellipse's edge, by its rough circumference.
  const needed = (most * (2 * radius + 7)) / Math.PI - across;
  const high = most === 1 ? 4 : Math.max(needed, Math.min(across, 20 + most * 14));
  const places = new Map();
  list.forEach((region, i) => {
    region.width = width;
    region.height = 2 * (high + radius) + 24;
    region.x = 8 + (i % columns) * (width + 10);
    region.y = 24 + Math.floor(i / columns) * (region.height + 30);
    region.members.forEach((member, k) => {
      const angle = (k / region.members.length) * 2 * Math.PI - Math.PI / 2;
      const alone = region.members.length === 1;
      places.set(member, {
        x: region.x + width / 2 + (alone ? 0 : Math.cos(angle) * across),
        y: region.y + region.height / 2 + (alone ? 0 : Math.sin(angle) * high),
      });
    });
  });
  const last = list[list.length - 1];
  const centreOf = (member) => {
    const region = list.find((one) => one.members.includes(member));
    return { x: region.x + width / 2, y: region.y + region.height / 2 };
  };
  return { regions: list, places, radius, centreOf, height: last.y + last.height + 8 };
}

// Bent towards the middle of the box, away from the circles beside the two ends; of two opposite arrows one less.
function curve(from, to, radius, towards, less) {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.max(Math.hypot(dx, dy), 1);
  const inwards = (towards.x - (from.x + to.x) / 2) * -dy + (towards.y - (from.y + to.y) / 2) * dx >= 0 ? 1 : -1;
  const bend = inwards * Math.min(length * (less ? 0.06 : 0.2), less ? 10 : 32);
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const cut = (end) => {
    const ex = middle.x - end.x, ey = middle.y - end.y, size = Math.max(Math.hypot(ex, ey), 1);
    return { x: end.x + (ex / size) * (radius + 2), y: end.y + (ey / size) * (radius + 2) };
  };
  const a = cut(from), b = cut(to);
  return { path: `M${a.x} ${a.y} Q${middle.x} ${middle.y} ${b.x} ${b.y}`, middle: { x: (a.x + 2 * middle.x + b.x) / 4, y: (a.y + 2 * middle.y + b.y) / 4 } };
}

const plan = { edges: [], ranks: new Map() };

function drawPlan() {
  const operation = state.operation, box = byId("plan");
  box.replaceChildren();
  plan.edges = [];
  plan.ranks.clear();
  if (!operation) return;
  const layout = layOut(operation);
  const svg = shape(box, "svg", { viewBox: `0 0 ${WIDTH} ${layout.height}`, height: layout.height });
  for (const [id, colour] of [["arrow", "#6b7683"], ["arrow-lit", "#111"]]) {
    const marker = shape(shape(svg, "defs"), "marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse" });
    shape(marker, "path", { d: "M0 0 L8 4 L0 8 z", fill: colour });
  }
  for (const region of layout.regions) {
    const rank = operation.members[region.members[0]];
    const host = region.node >= 0 ? `node ${region.node} (${trace.nodes[region.node].host})` : "elsewhere";
    shape(svg, "rect", { class: "node", x: region.x, y: region.y - 16, width: region.width, height: region.height + 18, rx: 6 });
    shape(svg, "rect", { class: "numa", x: region.x + 4, y: region.y, width: region.width - 8, height: region.height - 2, rx: 4 });
    shape(svg, "text", { class: "title", x: region.x + 8, y: region.y - 4 }, rank >= 0 && region.numa >= 0 ? `${host}, numa ${region.numa}` : host);
  }
  const edges = edgesOf(operation);
  for (const edge of edges) drawEdge(svg, operation, layout, edge, edges.length <= 60);
  operation.members.forEach((rank, member) => drawRank(svg, layout, rank, member));
  colourRanks();
}

function drawEdge(svg, operation, layout, edge, numbered) {
  const opposite = edgesOf(operation).some((other) => other.from === edge.to && other.to === edge.from);
  const { path, middle } = curve(layout.places.get(edge.from), layout.places.get(edge.to), layout.radius, layout.centreOf(edge.from), opposite && edge.from > edge.to);
  const drawn = shape(svg, "path", { class: edge.kind === "order" ? "edge order" : "edge", d: path, "marker-end": "url(#arrow)" });
  const transfers = [...edge.transfers].sort((a, b) => a - b);
  const label = transfers.length > 3 ? `${transfers[0]}..${transfers[transfers.length - 1]}` : transfers.join(",");
  if (numbered) shape(svg, "text", { class: "number", x: middle.x, y: middle.y + 3 }, label);
  const touch = shape(svg, "path", { class: "touch", d: path });
  touch.addEventListener("mouseenter", () => {
    byId("hint").textContent = `transfer ${label}: rank ${operation.members[edge.from]} to rank ${operation.members[edge.to]}${edge.kind === "order" ? " (order only)" : ""}`;
    light({ edge, test: (step) => operation.calls.includes(step.call) && edgeIsActive(edge, step) });
  });
  touch.addEventListener("mouseleave", () => light(null));
  plan.edges.push([edge, drawn]);
}

function drawRank(svg, layout, rank, member) {
  const place = layout.places.get(member);
  const group = shape(svg, "g", { class: rank === state.rank ? "rank chosen" : "rank" });
  const circle = shape(group, "circle", { cx: place.x, cy: place.y, r: layout.radius });
  const text = shape(group, "text", { x: place.x, y: place.y }, rank >= 0 ? String(rank) : "?");
  if (layout.radius < 9) text.style.fontSize = "8px";
  shape(group, "title", {}, rank >= 0 ? `rank ${rank}, cores ${trace.ranks[rank].cores}` : "a rank of another world");
  circle.addEventListener("click", () => chooseRank(rank));
  plan.ranks.set(rank, { group, circle });
}

// Whether a step waits for what an arrow brings, or moves it. Who tells others is at neither end of one.
function edgeIsActive(edge, step) {
  const member = step.call.program.member, group = groupOf(step);
  if (kindOf(step).name === "wait_reuse") return edge.from === member && edge.to === step.peer;
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
    drawn.circle.style.fill = now[i] ? COLOURS[groupOf(now[i])] : inside ? OTHER : "#7d8894";
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
