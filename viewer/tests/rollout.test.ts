import assert from "node:assert/strict";
import { test } from "node:test";
import { byLayer, paths, rollRows } from "../source/rollout";

// tests/cases/rollout.case has this one too: two tokens, two causal layers, residual one half.
const of = {
  n: 2,
  residual: 0.5,
  maps: [Float32Array.of(1, 0, 0.5, 0.5), Float32Array.of(1, 0, 0.25, 0.75)],
};

test("rollout is the product of the prepared layers", () => {
  assert.deepEqual([...rollRows(of, [1], 0, 2)], [0.34375, 0.65625]);
  assert.deepEqual([...rollRows(of, [0, 1], 0, 2)], [1, 0, 0.34375, 0.65625]);
});

test("a few rows and all rows agree", () => {
  const n = 16;
  const maps = [0, 1, 2].map((l) =>
    Float32Array.from({ length: n * n }, (_, k) => ((k * 7 + l * 3) % 11) / 55),
  );
  const large = { n, residual: 0.3, maps };
  const all = rollRows(
    large,
    Array.from({ length: n }, (_, i) => i),
    0,
    3,
  );
  const one = rollRows(large, [5], 0, 3);
  one.forEach((value, j) => assert.ok(Math.abs(value - all[5 * n + j]!) < 1e-6));
  const layers = byLayer(large, [5], 0, 3);
  layers[2]!.forEach((value, j) => assert.ok(Math.abs(value - one[j]!) < 1e-6));
});

test("the shares of the edges of a layer sum to 1", () => {
  const { edges, levels } = paths(of, [1], 0, 2, 0);
  for (const layer of [0, 1]) {
    const sum = edges.filter((edge) => edge.layer === layer).reduce((total, edge) => total + edge.share, 0);
    assert.ok(Math.abs(sum - 1) < 1e-6);
  }
  assert.deepEqual([...levels[2]!], [0.34375, 0.65625]);
});

test("a row without mass stays where it is", () => {
  const empty = { n: 2, residual: 0, maps: [new Float32Array(4)] };
  assert.deepEqual([...rollRows(empty, [1], 0, 1)], [0, 1]);
});
