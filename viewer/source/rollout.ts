// Rollout of some rows, from fused maps: what headwater does when nothing is discarded.

export interface Prepared {
  n: number;
  maps: Float32Array[]; // fused, of each layer, n x n
  residual: number;
}

/** Row i of (1 - r) F + r I, over its sum. A row that sums to 0 becomes a row of the identity. */
export function preparedRow(of: Prepared, layer: number, i: number, out: Float32Array): void {
  const { n, residual } = of;
  const map = of.maps[layer]!;
  let sum = 0;
  for (let j = 0; j < n; j++) {
    const value = (1 - residual) * map[i * n + j]! + (i === j ? residual : 0);
    out[j] = value;
    sum += value;
  }
  if (sum > 0) for (let j = 0; j < n; j++) out[j]! /= sum;
  else out[i] = 1;
}

/** One layer further down: row times A. */
function down(of: Prepared, layer: number, row: Float32Array, room: Float32Array): Float32Array {
  const next = new Float32Array(of.n);
  for (let i = 0; i < of.n; i++) {
    const weight = row[i]!;
    if (weight === 0) continue;
    preparedRow(of, layer, i, room);
    for (let j = 0; j < of.n; j++) next[j]! += weight * room[j]!;
  }
  return next;
}

/** The rollout of `rows` over layers begin to end (of the maps), top first: e_i A_end-1 ... A_begin. */
export function rollRows(of: Prepared, rows: number[], begin: number, end: number): Float32Array {
  const { n } = of;
  const out = new Float32Array(rows.length * n);
  const room = new Float32Array(n);
  if (rows.length < n / 4) {
    rows.forEach((i, r) => {
      let row: Float32Array = new Float32Array(n);
      if (i >= 0) row[i] = 1;
      else row.fill(1 / n);
      for (let l = end - 1; l >= begin; l--) row = down(of, l, row, room);
      out.set(row, r * n);
    });
    return out;
  }
  // All rows: from the bottom up, each layer prepared once.
  let rolled = new Float32Array(n * n);
  for (let i = 0; i < n; i++) rolled[i * n + i] = 1;
  for (let l = begin; l < end; l++) {
    const next = new Float32Array(n * n);
    for (let i = 0; i < n; i++) {
      preparedRow(of, l, i, room);
      for (let k = 0; k < n; k++) {
        const weight = room[k]!;
        if (weight === 0) continue;
        for (let j = 0; j < n; j++) next[i * n + j]! += weight * rolled[k * n + j]!;
      }
    }
    rolled = next;
  }
  rows.forEach((i, r) => out.set(rolled.subarray(i * n, (i + 1) * n), r * n));
  return out;
}

export interface Edge {
  layer: number; // of the maps
  from: number; // token above
  to: number; // token below
  share: number; // of the output, that takes this way
}

/**
 * The ways from output tokens down to the inputs: how much of the output passes each pair of tokens of each
 * layer. Only pairs with at least `least`. The shares of a layer sum to 1 if none is left out.
 */
export function paths(
  of: Prepared,
  start: number[],
  begin: number,
  end: number,
  least: number,
): { edges: Edge[]; levels: Float32Array[] } {
  const { n } = of;
  let row = new Float32Array(n);
  for (const i of start) row[i]! += 1 / start.length;
  const room = new Float32Array(n);
  const edges: Edge[] = [];
  const levels = [row];
  for (let l = end - 1; l >= begin; l--) {
    const next = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      if (row[i]! === 0) continue;
      preparedRow(of, l, i, room);
      for (let j = 0; j < n; j++) {
        const share = row[i]! * room[j]!;
        next[j]! += share;
        if (share >= least) edges.push({ layer: l, from: i, to: j, share });
      }
    }
    row = next;
    levels.push(row);
  }
  return { edges, levels };
}

/** The rollout of one output up to each layer: begin to l, for l in begin ... end - 1. */
export function byLayer(of: Prepared, start: number[], begin: number, end: number): Float32Array[] {
  const room = new Float32Array(of.n);
  const out: Float32Array[] = [];
  for (let top = begin; top < end; top++) {
    let row: Float32Array = new Float32Array(of.n);
    for (const i of start) row[i]! += 1;
    for (let l = top; l >= begin; l--) row = down(of, l, row, room);
    out.push(row);
  }
  return out;
}
