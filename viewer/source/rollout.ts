// Rollout of some rows, from fused maps: what headwater does when nothing is discarded.
import { floats } from "./arrays";

export interface Prepared {
  n: number;
  maps: Float32Array[]; // fused, of each layer, n x n
  residual: number;
}

export interface Edge {
  layer: number; // of the maps
  from: number; // token above
  to: number; // token below
  share: number; // of the output, that passes here
}

/** Row i of (1 - r) F + r I, over its sum. A row that sums to 0 becomes a row of the identity. */
function preparedRow({ n, maps, residual }: Prepared, layer: number, i: number): Float32Array {
  const out = maps[layer]!.slice(i * n, (i + 1) * n);
  let sum = 0;
  for (let j = 0; j < n; j++) sum += out[j] = (1 - residual) * out[j]! + (i === j ? residual : 0);
  if (sum > 0) for (let j = 0; j < n; j++) out[j]! /= sum;
  else out[i] = 1;
  return out;
}

/**
 * Rows of n numbers, and what becomes of them below each layer from end - 1 down to begin: the rows times A_l.
 * Edges of at least `least` are added to `edges`.
 */
function* levelsOf(
  of: Prepared,
  rows: Float32Array,
  begin: number,
  end: number,
  least = Infinity,
  edges: Edge[] = [],
): Generator<Float32Array> {
  const { n } = of;
  yield rows;
  for (let layer = end - 1; layer >= begin; layer--) {
    const next = floats(rows.length);
    for (let from = 0; from < n; from++) {
      let prepared: Float32Array | null = null;
      for (let start = 0; start < rows.length; start += n) {
        const weight = rows[start + from]!;
        if (weight === 0) continue;
        prepared ??= preparedRow(of, layer, from);
        for (let to = 0; to < n; to++) {
          const share = weight * prepared[to]!;
          next[start + to]! += share;
          if (share >= least) edges.push({ layer, from, to, share });
        }
      }
    }
    yield (rows = next);
  }
}

function lowest(levels: Iterable<Float32Array>): Float32Array {
  let last: Float32Array = floats(0);
  for (const level of levels) last = level;
  return last;
}

/** The sum of unit rows of these tokens, times `weight`. */
function rowOf({ n }: Prepared, tokens: number[], weight: number): Float32Array {
  const row = floats(n);
  for (const token of tokens) row[token]! += weight;
  return row;
}

/** The rollout of `rows` over layers begin to end (of the maps), top first: e_i A_end-1 ... A_begin; -1: the mean. */
export function rollRows(of: Prepared, rows: number[], begin: number, end: number): Float32Array {
  const { n } = of;
  const start = floats(rows.length * n);
  rows.forEach((i, r) => (i < 0 ? start.fill(1 / n, r * n, (r + 1) * n) : (start[r * n + i] = 1)));
  return lowest(levelsOf(of, start, begin, end));
}

/**
 * The paths from output tokens down to the inputs: how much of the output passes each pair of tokens of each
 * layer. Only pairs with at least `least`. The shares of a layer sum to 1 if none is left out.
 */
export function paths(
  of: Prepared,
  start: number[],
  begin: number,
  end: number,
  least: number,
): { edges: Edge[]; levels: Float32Array[] } {
  const edges: Edge[] = [];
  const row = rowOf(of, start, 1 / start.length);
  return { levels: [...levelsOf(of, row, begin, end, least, edges)], edges };
}

/** The rollout of one output up to each layer: begin to l, for l in begin ... end - 1. */
export function byLayer(of: Prepared, start: number[], begin: number, end: number): Float32Array[] {
  const out: Float32Array[] = [];
  for (let top = begin + 1; top <= end; top++)
    out.push(lowest(levelsOf(of, rowOf(of, start, 1), begin, top)));
  return out;
}
