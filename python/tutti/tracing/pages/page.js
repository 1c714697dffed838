// Fills the page and listens to its controls.
function sayTitle() {
  const shown = trace.operations.length;
  byId("title").textContent = `${trace.program}: ${trace.ranks.length} rank${trace.ranks.length === 1 ? "" : "s"} over ${trace.mpi}`;
  document.title = `Tutti trace: ${trace.program}`;
  const parts = [shown ? `${shown} operations` : `no operation of Tutti's, ${trace.hostCalls.length} calls that the host MPI served`];
  if (shown < trace.total)
    parts[0] = `operations ${trace.skipped + 1} to ${trace.skipped + shown} of ${trace.total}; for others: tutti trace --html FILE --skip N`;
  if (trace.lost) parts.push(`${trace.lost} records older than the rings are lost`);
  parts.push(trace.nodes.length > 1 ? `clocks of ${trace.nodes.length} nodes, known to ${duration(trace.clockError)}` : "one clock for all ranks");
  byId("subtitle").textContent = parts.join("; ") + ".";
}

function fillLegend() {
  const words = { waiting: "waiting", moving: "moving (copy)", reducing: "reducing", telling: "telling others", elsewhere: "between start and completion" };
  const entries = trace.groups.map((group, i) => [words[group], COLOURS[i]]);
  entries.push(["between steps", OTHER], ["served by the host MPI", "#c8ced5"]);
  for (const [name, colour] of entries) {
    const entry = element(byId("legend"), "li");
    element(entry, "i").style.background = colour;
    entry.append(name);
  }
}

// The moments at which a step of the chosen operation ends at any rank, in order.
function moments() {
  const operation = state.operation;
  if (!operation.moments) {
    const times = new Set([operation.begin]);
    for (const call of operation.calls) for (const step of stepsOf(call)) times.add(step.end);
    operation.moments = [...times].sort((a, b) => a - b);
  }
  return operation.moments;
}

function stepMoment(by) {
  if (!state.operation) return;
  const times = moments(), now = state.time === null ? state.operation.begin - 1 : state.time;
  const next = by > 0 ? times.find((time) => time > now) : times.findLast((time) => time < now);
  if (next !== undefined) setTime(next);
}

function neighbour(by) {
  const at = trace.operations.indexOf(state.operation) + by;
  if (trace.operations[at]) choose(trace.operations[at]);
}

function sayTime() {
  const operation = state.operation;
  byId("clock").textContent = operation && state.time !== null ? `+ ${duration(state.time - operation.begin)}` : "";
  if (operation && state.time !== null && document.activeElement !== byId("moment"))
    byId("moment").value = String(Math.round(((state.time - operation.begin) / Math.max(operation.end - operation.begin, 1)) * 1000));
}

function listen() {
  const click = (id, action) => byId(id).addEventListener("click", action);
  click("previous", () => neighbour(-1));
  click("next", () => neighbour(1));
  click("fit-operation", () => state.operation && showOperation(state.operation));
  click("fit-all", () => show(0, trace.length));
  click("zoom-in", () => zoom(0.5));
  click("zoom-out", () => zoom(2));
  click("step-back", () => stepMoment(-1));
  click("step-on", () => stepMoment(1));
  byId("moment").addEventListener("input", () => {
    const operation = state.operation;
    if (operation) setTime(operation.begin + (Number(byId("moment").value) / 1000) * (operation.end - operation.begin));
  });
  byId("rank").addEventListener("change", () => chooseRank(Number(byId("rank").value)));
  byId("filter").addEventListener("input", fillPicker);
  byId("order").addEventListener("change", fillPicker);
  const keys = { ArrowLeft: () => neighbour(-1), ArrowRight: () => neighbour(1), "+": () => zoom(0.5), "-": () => zoom(2), a: () => show(0, trace.length), o: () => state.operation && showOperation(state.operation) };
  window.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (keys[event.key]) keys[event.key]();
  });
}

for (const order of Object.keys(ORDERS)) element(byId("order"), "option", { value: order }, order);
heading(byId("picker").querySelector("table"), [["#", true], ["operation", false], ["ranks", true], ["at", true], ["took", true], ["arrival skew", true]]);
on("time", sayTime);
sayTitle();
fillLegend();
listen();
listenToPointer();
fillPicker();
byId("hint").textContent = "Wheel: zoom. Drag: move. Point at a step or an arrow to see it in both views.";
choose(trace.operations[Math.min(1, trace.operations.length - 1)] || null);
