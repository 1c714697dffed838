// What the blocks hold, and how transfers change it, forwards and back. The plan lies in the page as JSON.
const plan = JSON.parse(byId("data").textContent);

// For every block the number of a set of ranks, and which item of theirs it holds: a block of the vector, or a part.
const buffers = ["in", "out", "tmp"];
const blocksOf = (rank, buffer) => plan.blocks[buffer][rank];
const offsets = [];
let total = 0;
for (let rank = 0; rank < plan.ranks; rank++) {
  for (let buffer = 0; buffer < 3; buffer++) {
    offsets.push(total);
    total += blocksOf(rank, buffer);
  }
}
const held = new Int32Array(total);
const items = new Float64Array(total); // numbers beyond 32 bits where parts are many
const offset = (rank, buffer) => offsets[rank * 3 + buffer];
for (const [rank, buffer, set, item, step] of plan.start) {
  for (let block = 0; block < blocksOf(rank, buffer); block++) {
    held[offset(rank, buffer) + block] = set;
    items[offset(rank, buffer) + block] = item + block * step;
  }
}
const transfers = plan.transfers;
const undo = [];
let applied = 0; // transfers

// A run: first block, count, stride, the set that they hold then, the item of the first, and the items' step.
function* written(transfer) {
  for (const [first, count, stride, set, item, step] of transfer.writes) {
    for (let i = 0; i < count; i++) yield [offset(transfer.target, transfer.buffer) + first + i * stride, set, item + i * step];
  }
}

function apply() {
  const transfer = transfers[applied++];
  const before = [];
  for (const [at, set, item] of written(transfer)) {
    before.push(at, held[at], items[at]);
    held[at] = set;
    items[at] = item;
  }
  undo.push(before);
}

function takeBack() {
  applied--;
  const before = undo.pop();
  for (let i = before.length - 3; i >= 0; i -= 3) {
    held[before[i]] = before[i + 1];
    items[before[i]] = before[i + 2];
  }
}

// What a block of a rank's out must hold in the end.
const wantedSet = (rank, block) => (plan.goal[rank][0] < 0 ? plan.alone[block] : plan.goal[rank][0]);

function holdsResult(rank, block) {
  const at = offset(rank, 1) + block;
  const [, item, step] = plan.goal[rank];
  return held[at] === wantedSet(rank, block) && items[at] === item + block * step;
}

// The most ranks whose data one block of a result combines: a block that is on its way is filled by its share of them, one
// of out by its share of its own.
const most = Math.max(...plan.goal.map(([set]) => (set === undefined ? 0 : set < 0 ? 1 : plan.sizes[set])), 1);
const complete = (rank, buffer) => (buffer === 1 && plan.goal[rank].length && plan.goal[rank][0] >= 0 ? plan.sizes[plan.goal[rank][0]] : most);
