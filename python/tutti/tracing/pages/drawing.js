// Elements, made without markup: text is only ever textContent.
const SVG = "http://www.w3.org/2000/svg";

function element(parent, name, attributes = {}, text = null) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

function shape(parent, name, attributes = {}, text = null) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  parent.appendChild(made);
  return made;
}

const byId = (id) => document.getElementById(id);

// What is chosen and pointed at; both views follow it.
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

// Points at steps: `test` says which ones.
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
