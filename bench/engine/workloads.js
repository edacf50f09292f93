// The graphs that are timed, as data: node i may read the nodes of deps[i], all of which come before it.
// Each run is checked: every node once, after what it reads, and the right sum at the end.
import { createRandom } from "../random.js";

const MOD = 1_000_003;

const chain = (n) => Array.from({ length: n }, (_, i) => (i === 0 ? [] : [i - 1]));

function fan(n) {
  const middle = Array.from({ length: n }, (_, i) => i + 1);
  return [[], ...middle.map(() => [0]), middle];
}

function lattice(layers, width) {
  const deps = [];
  for (let l = 0; l < layers; l++) {
    for (let c = 0; c < width; c++) {
      deps.push(l === 0 ? [] : [(l - 1) * width + c, (l - 1) * width + ((c + 1) % width)]);
    }
  }
  return deps;
}

function dag(n, seed) {
  const random = createRandom(seed);
  return Array.from({ length: n }, (_, i) => {
    const inputs = new Set();
    const wanted = Math.min(i, 1 + Math.floor(random() * 3));
    while (inputs.size < wanted) inputs.add(i - 1 - Math.floor(random() * Math.min(i, 400)));
    return [...inputs].sort((a, b) => a - b);
  });
}

/** Ten nodes: a diamond of diamonds. */
const diamond = [[], [0], [0], [1, 2], [3], [3], [4, 5], [6], [6], [7, 8]];

const shapes = {
  chain100: { deps: chain(100), shape: "chain", runs: 1 },
  chain1000: { deps: chain(1_000), shape: "chain", runs: 1 },
  fan1000: { deps: fan(1_000), shape: "layers", runs: 1 },
  lattice: { deps: lattice(100, 10), shape: "layers", runs: 1 },
  dag1000: { deps: dag(1_000, 42), shape: "free", runs: 1 },
  dag10000: { deps: dag(10_000, 42), shape: "free", runs: 1 },
  conc1000x10: { deps: diamond, shape: "free", runs: 1_000 },
  chain100000: { deps: chain(100_000), shape: "chain", runs: 1 },
};

export const names = Object.keys(shapes);

/** One workload with its layers (nodes by depth) and the sum that a right run ends with. */
export function workload(name) {
  const { deps, shape, runs } = shapes[name];
  const depth = [];
  const layers = [];
  const values = [];
  for (const [i, inputs] of deps.entries()) {
    depth[i] = inputs.reduce((most, d) => Math.max(most, depth[d] + 1), 0);
    layers[depth[i]] ??= [];
    layers[depth[i]].push(i);
    values[i] = inputs.reduce((sum, d) => sum + values[d], i + 1) % MOD;
  }
  return { name, deps, shape, runs, layers, checksum: values.reduce((a, b) => (a + b) % MOD, 0) };
}

/** Outside state of one run: the bodies write here, so that no implementation carries values for another. */
export function createState(deps) {
  return { deps, values: new Int32Array(deps.length), ran: new Uint8Array(deps.length), early: 0 };
}

const OUTPUT = {};

/** What every node does: an asynchronous no-op that reads its inputs. Answers the output of the node. */
export async function body(state, i) {
  let sum = i + 1;
  for (const d of state.deps[i]) {
    if (state.ran[d] !== 1) state.early++;
    sum += state.values[d];
  }
  state.values[i] = sum % MOD;
  state.ran[i]++;
  return OUTPUT;
}

/** Throws when a run did not do the work. */
export function verify(state, { name, checksum }) {
  const sum = state.values.reduce((a, b) => (a + b) % MOD, 0);
  const once = state.ran.every((n) => n === 1);
  if (state.early > 0 || !once || sum !== checksum) {
    throw new Error(`${name}: wrong work (early ${state.early}, once ${once}, sum ${sum})`);
  }
}
