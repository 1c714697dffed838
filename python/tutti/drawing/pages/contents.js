// What the blocks hold, and how transfers change it, forwards and back. The plan lies in the page as JSON.
const plan = JSON.parse(byId("data").textContent);

// For every block the number of a set of ranks, and which block of the vector it is.
const buffers = ["in", "out", "tmp"];
const blocksOf = (rank, buffer) => (buffer === 2 ? plan.tmp[rank] : plan.blocks);
const offsets = [];
let total = 0;
for (let rank = 0; rank < plan.ranks; rank++) {
  for (let buffer = 0; buffer < 3; buffer++) {
    offsets.push(total);
    total += blocksOf(rank, buffer);
  }
}
const held = new Int32Array(total);
const vector = new Int32Array(total);
const offset = (rank, buffer) => offsets[rank * 3 + buffer];
for (const [rank, buffer, set] of plan.start) {
  for (let block = 0; block < plan.blocks; block++) {
    held[offset(rank, buffer) + block] = set;
    vector[offset(rank, buffer) + block] = block;
  }
}
const transfers = plan.transfers;
const undo = [];
let applied = 0; // transfers

// A run: first block, count, stride, the set that they hold then, and the block of the vector of the first.
function* written(transfer) {
  for (const [first, count, stride, set, block] of transfer.writes) {
    for (let i = 0; i < count; i++) yield [offset(transfer.target, transfer.buffer) + first + i * stride, set, block + i * stride];
  }
}

function apply() {
  const transfer = transfers[applied++];
  const before = [];
  for (const [at, set, block] of written(transfer)) {
    before.push(at, held[at], vector[at]);
    held[at] = set;
    vector[at] = block;
  }
  undo.push(before);
}

function takeBack() {
  applied--;
  const before = undo.pop();
  for (let i = before.length - 3; i >= 0; i -= 3) {
    held[before[i]] = before[i + 1];
    vector[before[i]] = before[i + 2];
  }
}
