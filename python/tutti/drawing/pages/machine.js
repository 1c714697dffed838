// Draws the machine's tree as boxes, and arrows between the ranks in them, for the page of a plan
// and the page of a trace. Both put this file before their own. Texts come from untrusted files,
// so they become only text nodes and attributes.
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// Makes an element in the parent's namespace, HTML or SVG.
function element(parent, name, attributes = {}, text = "") {
  const kind = name === "svg" || parent.namespaceURI === SVG ? SVG : parent.namespaceURI;
  const made = document.createElementNS(kind, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== "") made.textContent = text;
  parent.append(made);
  return made;
}

// Draws boxes, outer boxes first. A box has a level, a title, and a place: left, top, width,
// height.
function drawBoxes(parent, boxes, rounding) {
  for (const { level, title, place: [x, y, width, height] } of boxes) {
    element(parent, "rect", { x, y, width, height, rx: rounding, class: `box ${level}` });
    element(parent, "text", { x: x + rounding, y: y + rounding + 8, class: "box-title" }, title);
  }
}

// Defines the head that arrows name by `url(#id)`. There is one for each colour, because a head
// does not inherit its arrow's colour.
function defineHead(definitions, id, size, look) {
  const marker = element(definitions, "marker", {
    id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: size, markerHeight: size,
    markerUnits: "userSpaceOnUse", orient: "auto",
  });
  element(marker, "path", { d: "M0 0L10 5L0 10z", class: look });
}

// The distance from the centre of a place to its border, in a direction of length 1.
const roundBorder = (radius) => () => radius;
const squareBorder = (width, height) => (x, y) => Math.min(width / 2 / Math.abs(x || 1e-9), height / 2 / Math.abs(y || 1e-9));

// A curve from border to border of two places; its middle is `bend` to the left of the straight
// line. `at(share)` is the point after that share of the curve.
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
  const at = (share) => [0, 1].map((axis) => (1 - share) ** 2 * start[axis] + 2 * share * (1 - share) * control[axis] + share ** 2 * end[axis]);
  return { path: `M${start}Q${control} ${end}`, at };
}
