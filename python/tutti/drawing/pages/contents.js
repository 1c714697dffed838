// The contents of the blocks, and their changes by transfers, forwards and backwards. The page has
// the plan as JSON.
const plan = JSON.parse(byId("data").textContent);

// For every block, the number of a set of ranks, and the number of their item: a block of the
// vector, or a part.
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
const items = new Float64Array(total); // with many parts the numbers need more than 32 bits
const offset = (rank, buffer) => offsets[rank * 3 + buffer];
for (const [rank, buffer, set, item, step] of plan.start) {
  for (let block = 0; block < blocksOf(rank, buffer); block++) {
    held[offset(rank, buffer) + block] = set;
    items[offset(rank, buffer) + block] = item + block * step;
  }
}
const transfers = plan.transfers;
const undo = [];
let applied = 0; // number of transfers done

// A run: first block, count, stride, the set after the transfer, the item of the first block, and
// the items' step.
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

// The required content of a block of a rank's out at the end.
const wantedSet = (rank, block) => (plan.goal[rank][0] < 0 ? plan.alone[block] : plan.goal[rank][0]);

function holdsResult(rank, block) {
  const at = offset(rank, 1) + block;
  const [, item, step] = plan.goal[rank];
  return held[at] === wantedSet(rank, block) && items[at] === item + block * step;
}

// The largest number of ranks whose data one block of a result combines. The bar of an
// intermediate block shows its share of this number, the bar of a block of out its share of its
// own required number.
const most = Math.max(...plan.goal.map(([set]) => (set === undefined ? 0 : set < 0 ? 1 : plan.sizes[set])), 1);
const complete = (rank, buffer) => (buffer === 1 && plan.goal[rank].length && plan.goal[rank][0] >= 0 ? plan.sizes[plan.goal[rank][0]] : most);
