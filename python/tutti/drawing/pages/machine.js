// The machine's tree as boxes, and arrows between the ranks in them: what the page of a plan and the page of a trace draw
// alike. Both join this file in front of their own. Texts come from files that nobody vouches for, so they reach a page
// as text nodes and attributes only.
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// In the parent's kind of markup, HTML or SVG.
function element(parent, name, attributes = {}, text = "") {
  const kind = name === "svg" || parent.namespaceURI === SVG ? SVG : parent.namespaceURI;
  const made = document.createElementNS(kind, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== "") made.textContent = text;
  parent.append(made);
  return made;
}

// Outer boxes first. A box: its level, its title, and its place: left, top, width, height.
function drawBoxes(parent, boxes, rounding) {
  for (const { level, title, place: [x, y, width, height] } of boxes) {
    element(parent, "rect", { x, y, width, height, rx: rounding, class: `box ${level}` });
    element(parent, "text", { x: x + rounding, y: y + rounding + 8, class: "box-title" }, title);
  }
}

// The head that arrows name by `url(#id)`. Arrows of one colour share one: a head does not take its arrow's.
function defineHead(definitions, id, size, look) {
  const marker = element(definitions, "marker", {
    id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: size, markerHeight: size,
    markerUnits: "userSpaceOnUse", orient: "auto",
  });
  element(marker, "path", { d: "M0 0L10 5L0 10z", class: look });
}

// How far the border of what stands in a place is from its middle, in a direction of length 1.
const roundBorder = (radius) => () => radius;
const squareBorder = (width, height) => (x, y) => Math.min(width / 2 / Math.abs(x || 1e-9), height / 2 / Math.abs(y || 1e-9));

// A curve from border to border of what stands in two places, its middle `bend` to the left of the straight way.
function curveBetween(from, to, border, bend) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.max(Math.hypot(dx, dy), 1);
  const control = [(from[0] + to[0]) / 2 + (2 * bend * dy) / length, (from[1] + to[1]) / 2 - (2 * bend * dx) / length];
  const leave = ([x, y]) => {
    const away = Math.max(Math.hypot(control[0] - x, control[1] - y), 1);
    const [towardsX, towardsY] = [(control[0] - x) / away, (control[1] - y) / away];
    const distance = border(towardsX, towardsY);
    return [x + towardsX * distance, y + towardsY * distance];
  };
  const [start, end] = [leave(from), leave(to)];
  const middle = [0, 1].map((axis) => (start[axis] + 2 * control[axis] + end[axis]) / 4);
  return { path: `M${start}Q${control} ${end}`, middle };
}
