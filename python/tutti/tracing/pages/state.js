// The state of the page: what the user has chosen, and what the pointer is at. All views follow it.
const state = { operation: null, rank: null, lit: null, time: null };
const listeners = { operation: [], lit: [], time: [], rank: [], show: [] };
const on = (event, listener) => listeners[event].push(listener);

function choose(operation, show = true) {
  state.operation = operation;
  state.lit = null;
  state.time = null;
  if (operation && !operation.calls.some((call) => call.rank === state.rank)) state.rank = operation.calls[0].rank;
  for (const listener of listeners.operation) listener(show);
}

// Highlights steps: those for which `lit.test` is true.
function light(lit) {
  state.lit = lit;
  for (const listener of listeners.lit) listener();
}

function setTime(time) {
  state.time = time;
  for (const listener of listeners.time) listener();
}

function chooseRank(rank) {
  state.rank = rank;
  for (const listener of listeners.rank) listener();
}

const sameStep = (one, other) =>
  one && other && one.call === other.call && one.index === other.index && one.segment === other.segment && one.kind === other.kind;
