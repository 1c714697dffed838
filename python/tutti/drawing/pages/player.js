// The controls: they move a position in the plan by steps or by single transfers, and show the
// state there.
const MOST_ARROWS = 300;
const MOST_LINES = 60;
const controls = Object.fromEntries(
  ["first", "back", "play", "forward", "last", "position", "speed", "single", "zoom"].map((name) => [name, byId(name)]));
// ends[s] is the number of transfers done after s steps; transfers are listed in the order of
// steps.
const ends = [0];
transfers.forEach((transfer, index) => { ends[transfer.step] = index + 1; });
let timer = 0;
let chosen = -1;

const single = () => controls.single.checked;
const stepNow = () => (applied === 0 ? 0 : transfers[applied - 1].step);
const place = () => (single() ? applied : stepNow());
const places = () => (single() ? transfers.length : ends.length - 1);

// The transfers just done: the current one, or those of the current step.
function current() {
  if (applied === 0) return [0, 0];
  return single() ? [applied - 1, applied] : [ends[stepNow() - 1], applied];
}

// --- The list.
const buttons = [];
function listTransfers() {
  const list = byId("transfers");
  let section = null;
  transfers.forEach((transfer, index) => {
    if (index === ends[transfer.step - 1]) {
      section = element(list, "section");
      const count = ends[transfer.step] - index;
      element(section, "h3", {}, `step ${transfer.step}, ${count} ${count === 1 ? "transfer" : "transfers"}`);
    }
    const button = element(section, "button", { type: "button", tabindex: -1 }, transfer.text);
    button.addEventListener("click", () => go(single() ? index + 1 : ends[transfer.step]));
    buttons.push(button);
  });
}
let marked = [0, 0];
function markList() {
  for (let i = marked[0]; i < marked[1]; i++) {
    buttons[i].removeAttribute("aria-current");
    buttons[i].tabIndex = -1;
  }
  marked = current();
  for (let i = marked[0]; i < marked[1]; i++) buttons[i].setAttribute("aria-current", "step");
  const at = buttons[marked[0]];
  if (!at) return;
  at.tabIndex = 0;
  const [list, item] = [byId("transfers").getBoundingClientRect(), at.getBoundingClientRect()];
  if (item.top < list.top + 30 || item.bottom > list.bottom) byId("transfers").scrollTop += item.top - list.top - list.height / 3;
}

// --- The display.
function showArrows() {
  arrows.replaceChildren();
  for (const frame of drawing.querySelectorAll(".read, .written")) frame.classList.remove("read", "written");
  const [low, high] = current();
  const messages = transfers.slice(low, high).reduce((sum, transfer) => sum + transfer.messages.length, 0);
  let drawn = 0;
  for (let i = low; i < high; i++) {
    const transfer = transfers[i];
    for (const [first, count, stride] of transfer.writes) {
      mark(transfer.target, transfer.buffer, first, first + (count - 1) * stride, "written");
    }
    for (const [rank, buffer, first, last] of transfer.reads) mark(rank, buffer, first, last, "read");
    for (const [source, level] of transfer.messages) {
      if (drawn++ < MOST_ARROWS) drawArrow(source, transfer.target, plan.levels[level].name, messages > 40);
    }
  }
  return [messages, Math.min(drawn, MOST_ARROWS)];
}

function showStatus([messages, drawn]) {
  const [low, high] = current();
  if (applied === 0) {
    byId("status").textContent = `At the start: nothing has moved yet. ${transfers.length} transfers in ${ends.length - 1} steps.`;
    return;
  }
  const words = [`Step ${stepNow()} of ${ends.length - 1}`];
  if (single()) words.push(`transfer ${applied} of ${transfers.length}: ${transfers[low].text}`);
  else words.push(`${high - low} ${high - low === 1 ? "transfer" : "transfers"}`);
  words.push(plan.phases[transfers[low].phase], `${messages} ${messages === 1 ? "message" : "messages"}`);
  if (drawn < messages) words.push(`arrows for the first ${drawn}`);
  byId("status").textContent = words.join("; ");
}

function showDetail() {
  const detail = byId("detail");
  if (chosen < 0) return;
  detail.replaceChildren();
  let lines = 0;
  for (let buffer = 0; buffer < 3; buffer++) {
    const blocks = blocksOf(chosen, buffer);
    for (let low = 0; low < blocks && lines < MOST_LINES; lines++) {
      const base = offset(chosen, buffer);
      let high = low + 1;
      const alike = (at) => held[at] === held[base + low] && (!plan.addressed || items[at] === items[base + low]);
      while (high < blocks && alike(base + high)) high++;
      const line = element(detail, "p");
      const name = blocks === 1 ? "" : high - low === 1 ? `, block ${low}` : `, blocks ${low} to ${high - 1}`;
      element(line, "strong", {}, `rank ${chosen} ${buffers[buffer]}${name}: `);
      const set = plan.sets[held[base + low]];
      const whom = plan.addressed ? ` for ${items[base + low] % plan.ranks}` : "";
      line.append(set === "" ? "nothing" : `data of ${set}${whom}`);
      low = high;
    }
  }
  if (lines === MOST_LINES) element(detail, "p", {}, "more is not listed");
}

function chooseRank(rank) {
  if (chosen >= 0) cards[chosen].card.classList.remove("chosen");
  chosen = rank;
  cards[rank].card.classList.add("chosen");
  showDetail();
}

function show() {
  for (let rank = 0; rank < plan.ranks; rank++) paintRank(rank);
  controls.position.max = places();
  controls.position.value = place();
  controls.position.setAttribute("aria-valuetext", `${place()} of ${places()}`);
  controls.first.disabled = controls.back.disabled = applied === 0;
  controls.last.disabled = controls.forward.disabled = applied === transfers.length;
  showStatus(showArrows());
  markList();
  showDetail();
}

// --- Moving.
function go(count) {
  const target = Math.max(0, Math.min(transfers.length, count));
  while (applied < target) apply();
  while (applied > target) takeBack();
  show();
}
const goPlace = (at) => go(single() ? at : ends[Math.max(0, Math.min(places(), at))]);

function playing(wanted) {
  clearInterval(timer);
  timer = 0;
  if (wanted) {
    if (applied === transfers.length) go(0);
    timer = setInterval(() => {
      goPlace(place() + 1);
      if (applied === transfers.length) playing(false);
    }, Number(controls.speed.value));
  }
  controls.play.textContent = wanted ? "Pause" : "Play";
  controls.play.setAttribute("aria-pressed", String(wanted));
}

function by(move) {
  playing(false);
  // A step that single transfers have left half done is first completed, or undone.
  goPlace(place() + move);
}
controls.first.addEventListener("click", () => { playing(false); go(0); });
controls.last.addEventListener("click", () => { playing(false); go(transfers.length); });
controls.back.addEventListener("click", () => by(-1));
controls.forward.addEventListener("click", () => by(1));
controls.play.addEventListener("click", () => playing(timer === 0));
controls.position.addEventListener("input", () => { playing(false); goPlace(Number(controls.position.value)); });
controls.speed.addEventListener("change", () => { if (timer) playing(true); });
controls.single.addEventListener("change", () => goPlace(place()));
controls.zoom.addEventListener("change", fit);

function fit() {
  const zoom = Number(controls.zoom.value) / 100;
  const scroll = byId("scroll");
  const [, , width, height] = drawing.getAttribute("viewBox").split(" ").map(Number);
  const scale = zoom * Math.min((scroll.clientWidth - 4) / width, Math.max(scroll.clientHeight - 8, 240) / height, 1.6);
  drawing.setAttribute("width", width * scale);
  drawing.setAttribute("height", height * scale);
}
window.addEventListener("resize", fit);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const tag = event.target.tagName;
  if (tag === "SELECT" || (tag === "INPUT" && event.target.type === "range" && event.key !== " ")) return;
  if (event.key === " " && (tag === "BUTTON" || event.target.type === "checkbox")) return;
  const moves = {
    " ": () => playing(timer === 0),
    ArrowRight: () => by(1),
    ArrowLeft: () => by(-1),
    Home: () => by(-transfers.length),
    End: () => by(transfers.length),
  };
  if (moves[event.key]) {
    event.preventDefault();
    moves[event.key]();
  }
});

byId("caption").textContent = plan.caption;
if (plan.refusal) {
  byId("refusal").textContent = `The check refuses this plan: ${plan.refusal}`;
  byId("refusal").hidden = false;
}
listTransfers();
fit();
show();
