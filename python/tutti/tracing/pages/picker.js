// The list of operations, and the steps of one rank of the chosen one.
const MOST_ROWS = 300;
const ORDERS = {
  "time": (a, b) => a.begin - b.begin,
  "longest first": (a, b) => b.end - b.begin - (a.end - a.begin),
  "largest arrival skew": (a, b) => b.skew - a.skew,
  "most bytes": (a, b) => b.bytes - a.bytes || a.begin - b.begin,
};

function heading(table, names) {
  const row = element(table.querySelector("thead"), "tr");
  for (const [name, number] of names) element(row, "th", number ? { class: "number" } : {}, name);
}

function fillPicker() {
  const words = byId("filter").value.toLowerCase().split(/[\s,]+/).filter((word) => word);
  const found = trace.operations.filter((o) => words.every((word) => o.label.toLowerCase().includes(word)));
  found.sort(ORDERS[byId("order").value]);
  const body = byId("picker").querySelector("tbody");
  body.replaceChildren();
  for (const operation of found.slice(0, MOST_ROWS)) {
    const row = element(body, "tr", operation === state.operation ? { class: "chosen-row" } : {});
    operation.row = row;
    element(row, "td", { class: "number" }, String(trace.operations.indexOf(operation) + 1 + trace.skipped));
    element(row, "td", {}, operation.label);
    element(row, "td", { class: "number" }, `${operation.calls.length}`);
    element(row, "td", { class: "number" }, duration(operation.begin));
    element(row, "td", { class: "number" }, duration(operation.end - operation.begin));
    element(row, "td", { class: "number" }, duration(operation.skew));
    row.addEventListener("click", () => choose(operation));
  }
  const beyond = found.length > MOST_ROWS ? `, the first ${MOST_ROWS} listed` : "";
  byId("count").textContent = `${found.length} operations${beyond}`;
}

function markChosen() {
  for (const row of byId("picker").querySelectorAll(".chosen-row")) row.classList.remove("chosen-row");
  if (state.operation && state.operation.row) state.operation.row.classList.add("chosen-row");
}

let stepRows = [];
function fillSteps() {
  const operation = state.operation, body = byId("steps").querySelector("tbody");
  body.replaceChildren();
  stepRows = [];
  const call = operation && operation.calls.find((known) => known.rank === state.rank);
  if (!call) return;
  const steps = stepsOf(call);
  const longest = Math.max(...steps.map((step) => (groupOf(step) === ELSEWHERE ? 0 : step.end - step.begin)), 1);
  for (const step of steps.slice(0, MOST_ROWS)) {
    const row = element(body, "tr");
    element(row, "td", { class: "number" }, step.index < 0 ? "" : String(step.index));
    if (operation.segments > 1) element(row, "td", { class: "number" }, String(step.segment));
    const cell = element(row, "td", { title: kindOf(step).meaning });
    element(cell, "i").style.background = COLOURS[groupOf(step)];
    cell.append(kindOf(step).name);
    element(row, "td", { class: "what", title: describe(operation, step) }, describe(operation, step));
    const time = element(row, "td", { class: "number" }, duration(step.end - step.begin));
    const share = Math.min((step.end - step.begin) / longest, 1) * 100;
    time.style.background = `linear-gradient(to left, ${COLOURS[groupOf(step)]}55 ${share}%, transparent ${share}%)`;
    row.addEventListener("mouseenter", () => {
      setTime((step.begin + step.end) / 2);
      light({ step, test: (other) => sameStep(other, step) });
    });
    stepRows.push([step, row]);
  }
  byId("segments").textContent = `${steps.length} steps${steps.length > MOST_ROWS ? `, the first ${MOST_ROWS} listed` : ""}` +
    (operation.segments > 1 ? `, ${operation.segments} segments` : "") + (call.steps.length ? "" : " (lost, or left out of this page)");
}

function headSteps() {
  const table = byId("steps").querySelector("table");
  table.querySelector("thead").replaceChildren();
  const segment = state.operation && state.operation.segments > 1 ? [["segment", true]] : [];
  heading(table, [["step", true], ...segment, ["kind", false], ["what", false], ["time", true]]);
}

function lightRow() {
  for (const [step, row] of stepRows) {
    const lit = Boolean(state.lit && state.lit.test(step));
    row.classList.toggle("lit-row", lit);
    if (lit && state.lit.step && !row.matches(":hover")) {
      const box = byId("steps"), top = row.offsetTop - 24;
      if (top < box.scrollTop || top + 60 > box.scrollTop + box.clientHeight) box.scrollTop = top - 20;
    }
  }
}

function fillRanks() {
  const select = byId("rank");
  select.replaceChildren();
  if (!state.operation) return;
  for (const call of state.operation.calls) element(select, "option", { value: call.rank }, String(call.rank));
  select.value = String(state.rank);
}

function sayOperation() {
  const operation = state.operation;
  byId("operation").textContent = operation ? `${operation.label}` : "no operation";
  if (!operation) return;
  const carrier = operation.calls[0].program.carrier === "line" ? "in stamped lines" : "through slots";
  const number = operation.epoch % 2 ** 32, persistent = Math.floor(operation.epoch / 2 ** 32);
  byId("details").textContent =
    `${persistent ? `round ${number} of persistent collective ${persistent}` : `operation ${number}`} of communicator ${operation.communicator} (${operation.members.length} ranks), ${carrier}; ` +
    `${duration(operation.end - operation.begin)}, arrival skew ${duration(operation.skew)}`;
}

on("operation", () => {
  sayOperation();
  headSteps();
  fillRanks();
  fillSteps();
  markChosen();
});
on("rank", () => {
  byId("rank").value = String(state.rank);
  fillSteps();
});
on("lit", lightRow);
