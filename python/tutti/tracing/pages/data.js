// The trace that the page holds, and functions that look things up in it. Times are nanoseconds since the first operation shown.
const trace = JSON.parse(byId("data").textContent);
const COLOURS = ["--waiting", "--moving", "--reducing", "--telling", "--elsewhere"].map(
  (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim());
const OTHER = getComputedStyle(document.documentElement).getPropertyValue("--other").trim();
const ROOM = 252, ARRIVAL = 251;
const ELSEWHERE = trace.groups.indexOf("elsewhere"); // the time between a start and its completion, which no call spends

for (const operation of trace.operations) {
  operation.members = trace.communicators[operation.communicator];
  operation.calls = operation.calls.map(([rank, begin, length, program, steps]) => ({
    rank, begin: operation.begin + begin, end: operation.begin + begin + length, program: trace.programs[program], steps,
  }));
  operation.end = Math.max(...operation.calls.map((call) => call.end));
  operation.skew = Math.max(...operation.calls.map((call) => call.begin)) - operation.begin;
  operation.stepCount = operation.calls.reduce((sum, call) => sum + call.steps.length / 3, 0);
}

// The steps of a call in the order of execution. They are made at the first use.
function stepsOf(call) {
  if (call.list) return call.list;
  call.list = [];
  const ranks = call.operationRanks;
  let at = call.begin;
  for (let i = 0; i < call.steps.length; i += 3) {
    const code = call.steps[i];
    const step = { call, segment: call.steps[i + 1], begin: at, end: at + call.steps[i + 2], index: code, kind: ROOM, transfer: 0, peer: -1 };
    if (code <= -2) {
      step.index = Math.floor((-2 - code) / ranks);
      step.peer = (-2 - code) % ranks;
      step.kind = ARRIVAL;
      const pair = (call.program.steps[step.index] || [0, 0, 0, [], []])[4].find(([member]) => member === step.peer);
      step.transfer = pair ? pair[1] : 0;
    } else if (code >= 0) {
      const known = call.program.steps[code];
      [step.kind, step.transfer, step.peer] = known ? known : [ROOM, 0, -1];
    }
    at = step.end;
    call.list.push(step);
  }
  return call.list;
}
for (const operation of trace.operations)
  for (const call of operation.calls) call.operationRanks = operation.members.length;

const kindOf = (step) => trace.kinds[step.kind] || { name: "?", group: 0, meaning: "" };
const groupOf = (step) => kindOf(step).group;

function stepAt(call, time) {
  if (time < call.begin || time >= call.end) return null;
  const steps = stepsOf(call);
  let low = 0, high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].end > time) high = middle; else low = middle + 1;
  }
  return steps[low] || null;
}

// How far back the segment lies that a step's wait is for: segments, and rounds of the ring.
function backOf(step) {
  const known = step.call.program.steps[step.index];
  return known ? known[5] : [0, 0];
}

// The step that ended a wait: the one by which the peer told of the awaited transfer and segment.
function tellerOf(operation, step) {
  if (groupOf(step) !== 0 || step.peer < 0) return null;
  const call = operation.calls.find((other) => other.rank === operation.members[step.peer]);
  if (!call) return null;
  const [segments, rounds] = backOf(step), segment = step.segment - segments - rounds * operation.positions;
  return stepsOf(call).find((other) => groupOf(other) === 3 && other.transfer === step.transfer && other.segment === segment) || null;
}

// The nanoseconds that one call spent in each group.
function sums(call) {
  if (!call.sums) {
    call.sums = trace.groups.map(() => 0);
    for (const step of stepsOf(call)) call.sums[groupOf(step)] += step.end - step.begin;
  }
  return call.sums;
}

function duration(ns) {
  const size = Math.abs(ns);
  if (size < 1000) return `${ns.toFixed(0)} ns`;
  if (size < 1e6) return `${(ns / 1000).toFixed(size < 1e5 ? 2 : 1)} us`;
  if (size < 1e9) return `${(ns / 1e6).toFixed(size < 1e8 ? 2 : 1)} ms`;
  return `${(ns / 1e9).toFixed(2)} s`;
}

// A time on an axis whose marks are `unit` apart, with as many digits as distinguish the marks.
function moment(ns, unit) {
  const [size, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]].find(([each]) => Math.abs(ns) >= each) || [1, "ns"];
  return `${(ns / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / unit) - 1e-9)))} ${name}`;
}

// Says in words what a step does.
function describe(operation, step) {
  const name = kindOf(step).name;
  const rank = (member) => `rank ${operation.members[member]}`;
  if (step.kind === ROOM) return "waited for room in the ring";
  if (groupOf(step) === ELSEWHERE) return "between start and completion";
  if (step.kind === ARRIVAL) return `${rank(step.peer)} came first, transfer ${step.transfer}`;
  if (groupOf(step) === 0) return `${rank(step.peer)}, transfer ${step.transfer}`;
  const known = step.call.program.steps[step.index];
  const place = ([space, member, block]) => `${space}[${operation.members[member]}]${block ? "." + block : ""}`;
  if (known && known[3].length)
    return `${place(known[3][0])} <- ${known[3].slice(1, 9).map(place).join(", ")}${known[3].length > 9 ? ", ..." : ""}`;
  return `${name === "stamp" || name === "publish" ? "" : name + " "}transfer ${step.transfer}`;
}
