// The timeline, with a row for each rank. It draws steps where few are in view, else calls with the shares of their time, else
// how busy each stretch was.
const LABELS = 64, AXIS = 20, GAP = 4, MOST_DRAWN_STEPS = 6000, MOST_DRAWN_CALLS = 5000, STRETCHES = 300;
const DIGIT_OF_AXIS = 7; // its width

const timeline = {
  box: byId("timeline"), from: 0, to: Math.max(trace.length, 1), drawn: [],
  height: () => Math.max(9, Math.min(34, Math.floor(400 / trace.ranks.length) - GAP)),
  width: () => Math.max(timeline.box.clientWidth - LABELS - 2, 100),
  x: (time) => LABELS + ((time - timeline.from) / (timeline.to - timeline.from)) * timeline.width(),
  time: (x) => timeline.from + ((x - LABELS) / timeline.width()) * (timeline.to - timeline.from),
  y: (rank) => AXIS + rank * (timeline.height() + GAP),
};

function show(from, to) {
  const least = 20, all = Math.max(trace.length, 1);
  let length = Math.max(to - from, least);
  length = Math.min(length, all * 1.04);
  const middle = (from + to) / 2;
  timeline.from = Math.max(Math.min(middle - length / 2, all * 1.02 - length), -all * 0.02);
  timeline.to = timeline.from + length;
  requestDraw();
}

function showOperation(operation) {
  const margin = (operation.end - operation.begin) * 0.04 + 10;
  show(operation.begin - margin, operation.end + margin);
}

function zoom(factor, around = (timeline.from + timeline.to) / 2) {
  show(around - (around - timeline.from) * factor, around + (timeline.to - around) * factor);
}

let drawAsked = false;
function requestDraw() {
  if (drawAsked) return;
  drawAsked = true;
  requestAnimationFrame(() => {
    drawAsked = false;
    drawTimeline();
  });
}

function drawTimeline() {
  const height = AXIS + trace.ranks.length * (timeline.height() + GAP);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${timeline.width() + LABELS} ${height}`);
  timeline.svg = svg;
  timeline.drawn = [];
  drawRows(svg);
  drawAxis(svg, height);
  if (state.operation)
    element(svg, "rect", { class: "band", x: timeline.x(state.operation.begin), width: Math.max(timeline.x(state.operation.end) - timeline.x(state.operation.begin), 1), y: 0, height });
  const clip = element(svg, "clipPath", { id: "view" });
  element(clip, "rect", { x: LABELS, y: 0, width: timeline.width(), height });
  const content = element(svg, "g", { "clip-path": "url(#view)" });
  drawHostCalls(content);
  const visible = trace.operations.filter((o) => o.end >= timeline.from && o.begin <= timeline.to);
  const steps = visible.reduce((sum, o) => sum + o.stepCount, 0);
  const calls = visible.reduce((sum, o) => sum + o.calls.length, 0);
  let level = calls <= MOST_DRAWN_CALLS ? "calls" : "stretches";
  if (steps <= MOST_DRAWN_STEPS) level = "steps";
  if (level === "stretches") drawStretches(content, visible);
  else for (const operation of visible) for (const call of operation.calls) drawCall(content, operation, call, level);
  timeline.overlay = element(svg, "g", { "clip-path": "url(#view)", "pointer-events": "none" });
  const scroll = timeline.box.scrollTop;
  timeline.box.replaceChildren(svg);
  timeline.box.scrollTop = scroll;
  const words = { steps: "steps", calls: "calls, each with the shares of its time (zoom in for steps)", stretches: "how busy each stretch was (zoom in for calls)" };
  byId("scale").textContent = `${duration(timeline.to - timeline.from)} in view; drawn: ${words[level]}`;
  drawOverlay();
}

function drawRows(svg) {
  const height = timeline.height();
  let node = -1;
  trace.ranks.forEach((rank, number) => {
    const y = timeline.y(number);
    element(svg, "rect", { class: "row", x: LABELS, y, width: timeline.width(), height });
    if (height >= 11 || number % 2 === 0) element(svg, "text", { x: LABELS - 6, y: y + height / 2 + 4, "text-anchor": "end" }, `rank ${number}`);
    if (rank.node !== node && trace.nodes.length > 1) element(svg, "rect", { class: "node", x: 0, y: y - GAP / 2, width: timeline.width() + LABELS, height: 1 });
    node = rank.node;
  });
}

function drawAxis(svg, height) {
  const length = timeline.to - timeline.from;
  let unit = 10 ** Math.floor(Math.log10(length / 5));
  unit *= [1, 2, 5, 10].find((factor) => length / (unit * factor) <= 8);
  for (let time = Math.ceil(timeline.from / unit) * unit; time <= timeline.to; time += unit) {
    const x = timeline.x(time);
    element(svg, "line", { class: "grid", x1: x, x2: x, y1: AXIS - 4, y2: height });
    const text = moment(time, unit);
    // The last time has no text where it would be cut off.
    if (x + 3 + DIGIT_OF_AXIS * text.length <= LABELS + timeline.width())
      element(svg, "text", { class: "axis", x: x + 3, y: 12 }, text);
  }
}

function bar(parent, rank, begin, end, colour, attributes = {}) {
  const from = Math.max(timeline.x(begin), LABELS - 2), to = Math.min(timeline.x(end), LABELS + timeline.width() + 2);
  if (to < from) return null;
  return element(parent, "rect", { x: from, y: timeline.y(rank), width: Math.max(to - from, 0.5), height: timeline.height(), fill: colour, ...attributes });
}

// Draws the time between a start and its completion as a thin line, because other operations may be drawn there.
function thread(parent, rank, begin, end) {
  const middle = timeline.y(rank) + timeline.height() / 2;
  return bar(parent, rank, begin, end, COLOURS[ELSEWHERE], { y: middle - 1, height: 2 });
}

function drawHostCalls(parent) {
  let left = 2000;
  for (const [rank, begin, length, label] of trace.hostCalls) {
    if (begin + length < timeline.from || begin > timeline.to || left-- <= 0) continue;
    const drawn = bar(parent, rank, begin, begin + length, "", { class: "host" });
    if (drawn) drawn.addEventListener("mousemove", () => (byId("hint").textContent = `rank ${rank}: ${label}, ${duration(length)}`));
  }
}

// Operations in lanes run beside the calls of their rank, so they are thin lines at the foot of its row.
const placeOf = (operation, rank) => operation.lane ? { y: timeline.y(rank) + timeline.height() - 3, height: 3 } : {};

function drawCall(parent, operation, call, level) {
  const place = placeOf(operation, call.rank);
  if (level === "steps") {
    for (const step of stepsOf(call)) {
      if (step.end < timeline.from || step.begin > timeline.to) continue;
      const elsewhere = groupOf(step) === ELSEWHERE;
      const drawn = elsewhere ? thread(parent, call.rank, step.begin, step.end) : bar(parent, call.rank, step.begin, step.end, COLOURS[groupOf(step)], place);
      if (!drawn) continue;
      timeline.drawn.push([step, drawn]);
      drawn.addEventListener("mouseenter", () => point(operation, step));
    }
  } else {
    let at = call.begin;
    sums(call).forEach((time, group) => {
      if (group === ELSEWHERE) thread(parent, call.rank, at, at + time);
      else bar(parent, call.rank, at, at + time, COLOURS[group], place);
      at += time;
    });
  }
  const outline = bar(parent, call.rank, call.begin, call.end, "none", { class: operation === state.operation ? "call chosen" : "call", "pointer-events": level === "steps" ? "none" : "all", ...place });
  if (outline && level !== "steps") {
    outline.addEventListener("mouseenter", () => (byId("hint").textContent = `rank ${call.rank}: ${operation.label}, ${duration(call.end - call.begin)}; click to choose it`));
    outline.addEventListener("click", () => choose(operation));
  }
}

function drawStretches(parent, visible) {
  const busy = trace.ranks.map(() => new Float64Array(STRETCHES)), waiting = trace.ranks.map(() => new Float64Array(STRETCHES));
  const length = (timeline.to - timeline.from) / STRETCHES;
  for (const operation of visible.filter((one) => !one.lane))
    for (const call of operation.calls) {
      const total = Math.max(call.end - call.begin, 1), inside = total - sums(call)[ELSEWHERE], waits = sums(call)[0] / Math.max(inside, 1);
      const first = Math.max(Math.floor((call.begin - timeline.from) / length), 0);
      for (let i = first; i < STRETCHES && timeline.from + i * length < call.end; ++i) {
        const part = Math.min(call.end, timeline.from + (i + 1) * length) - Math.max(call.begin, timeline.from + i * length);
        busy[call.rank][i] += part * (inside / total);
        waiting[call.rank][i] += part * (inside / total) * waits;
      }
    }
  trace.ranks.forEach((_, rank) => {
    for (let i = 0; i < STRETCHES; ++i) {
      if (busy[rank][i] <= 0) continue;
      const colour = waiting[rank][i] * 2 > busy[rank][i] ? COLOURS[0] : COLOURS[1];
      bar(parent, rank, timeline.from + i * length, timeline.from + (i + 1) * length, colour, { "fill-opacity": 0.15 + 0.85 * Math.min(busy[rank][i] / length, 1), "pointer-events": "none" });
    }
  });
}

// To call when the pointer is at a step: describes it, highlights it, and chooses its operation.
function point(operation, step) {
  if (operation !== state.operation) choose(operation, false);
  const where = operation.segments > 1 ? `, segment ${step.segment}` : "";
  byId("hint").textContent = `rank ${step.call.rank}, step ${Math.max(step.index, 0)}: ${kindOf(step).name} ${describe(operation, step)}${where}, ${duration(step.end - step.begin)}`;
  if (state.rank !== step.call.rank) chooseRank(step.call.rank);
  light({ step, test: (other) => sameStep(other, step) });
}

function drawOverlay() {
  const overlay = timeline.overlay;
  if (!overlay) return;
  overlay.replaceChildren();
  if (state.time !== null) {
    const x = timeline.x(state.time);
    element(overlay, "line", { class: "cursor", x1: x, x2: x, y1: 0, y2: AXIS + trace.ranks.length * (timeline.height() + GAP) });
  }
  if (!state.lit) return;
  for (const [step, drawn] of timeline.drawn) {
    if (!state.lit.test(step)) continue;
    const copy = drawn.cloneNode();
    copy.setAttribute("class", "lit");
    copy.setAttribute("fill", "none");
    overlay.appendChild(copy);
    const teller = state.operation ? tellerOf(state.operation, step) : null;
    if (!teller) continue;
    const middle = timeline.height() / 2;
    const from = [timeline.x(teller.end), timeline.y(teller.call.rank) + middle], to = [timeline.x(step.end), timeline.y(step.call.rank) + middle];
    element(overlay, "line", { class: "flow", x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
    element(overlay, "circle", { cx: to[0], cy: to[1], r: 3 });
  }
}

function listenToPointer() {
  let drag = null;
  const placeOf = (event) => event.clientX - timeline.box.getBoundingClientRect().left;
  timeline.box.addEventListener("wheel", (event) => {
    if (event.shiftKey) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = (event.deltaX / timeline.width()) * (timeline.to - timeline.from);
      show(timeline.from + by, timeline.to + by);
    } else {
      zoom(event.deltaY > 0 ? 1.25 : 0.8, timeline.time(placeOf(event)));
    }
  }, { passive: false });
  timeline.box.addEventListener("mousedown", (event) => (drag = { x: placeOf(event), from: timeline.from, to: timeline.to }));
  window.addEventListener("mouseup", () => {
    drag = null;
    timeline.box.classList.remove("dragging");
  });
  timeline.box.addEventListener("mousemove", (event) => {
    if (drag && Math.abs(placeOf(event) - drag.x) > 3) {
      timeline.box.classList.add("dragging");
      const by = ((drag.x - placeOf(event)) / timeline.width()) * (drag.to - drag.from);
      show(drag.from + by, drag.to + by);
      return;
    }
    const time = timeline.time(placeOf(event));
    if (state.operation && time >= state.operation.begin && time <= state.operation.end) setTime(time);
  });
}

on("operation", (showIt) => (showIt && state.operation ? showOperation(state.operation) : requestDraw()));
on("lit", drawOverlay);
on("time", drawOverlay);
window.addEventListener("resize", requestDraw);
