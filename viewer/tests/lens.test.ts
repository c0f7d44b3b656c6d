import assert from "node:assert/strict";
import { test } from "node:test";
import { floatGrid } from "../source/grid";
import { rankCorrelation } from "../source/correlation";
import { type Lens, lensOf, type LensOptions } from "../source/lens";
import { pool } from "../source/pool";

const units = (groups: number[][]) => {
  const of = new Int32Array(groups.flat().length);
  groups.forEach((group, k) => group.forEach((t) => (of[t] = k)));
  return { of, members: groups, names: groups.map(String) };
};
const single = units([[0], [1], [2]]);
const grid = floatGrid(3, 3, Float32Array.of(0.5, 0.25, 0.25, 0.5, 0.5, 0, 0.25, 0.25, 0.5));

function lens(more: Partial<LensOptions> = {}): Lens {
  const side = { units: single, unseen: new Uint8Array(3) };
  return lensOf({
    grid,
    inputs: side,
    outputs: side,
    rowTokens: [0, 1, 2],
    renormalise: false,
    ...more,
  });
}

test("units sum over inputs and over outputs", () => {
  const side = { units: units([[0], [1, 2]]), unseen: new Uint8Array(3) };
  const one = lens({ inputs: side, outputs: side });
  assert.deepEqual([...one.row(0)], [0.5, 0.5]);
  assert.deepEqual([...one.row(1)], [0.75, 1.25]);
  assert.deepEqual([...one.column([1])], [0.5, 1.25]);
});

test("what is hidden counts as nothing, and the rest can be renormalised", () => {
  const side = { units: single, unseen: Uint8Array.of(1, 0, 0) };
  assert.deepEqual([...lens({ inputs: side }).row(0)], [0, 0.25, 0.25]);
  assert.deepEqual([...lens({ inputs: side, renormalise: true }).row(0)], [0, 0.5, 0.5]);
  assert.equal(lens({ outputs: side }).high, 2);
  const all = { units: single, unseen: Uint8Array.of(1, 1, 1) };
  assert.equal(lens({ outputs: all }).high, 3); // a result about [CLS] alone stays
});

test("a difference is one less the other", () => {
  const other = floatGrid(3, 3, new Float32Array(9).fill(0.25));
  assert.deepEqual([...lens({ minus: other }).row(1)], [0.25, 0.25, -0.25]);
  assert.deepEqual([...lens({ minus: other }).column([2])], [0, -0.25, 0.25]);
});

test("a row that is not there has no place", () => {
  const one = lens({ grid: floatGrid(1, 3, Float32Array.of(0.5, 0.25, 0.25)), rowTokens: [2] });
  assert.equal(one.rowOfUnit(2), 0);
  assert.equal(one.rowOfUnit(0), undefined);
});

test("a pixel has the largest of its cells, by size", () => {
  const values = floatGrid(2, 4, Float32Array.of(1, -3, 0, 2, 0, 0, 0, -1));
  const four = units([[0], [1], [2], [3]]);
  const side = { units: four, unseen: new Uint8Array(4) };
  const one = lens({ grid: values, inputs: side, outputs: side, rowTokens: [0, 1] });
  const pooled = pool(one, [0, 1], [0, 1, 2, 3], 2, 1);
  assert.deepEqual([...pooled.dots], [-3, 2]);
});

test("rank correlation with ties is Spearman's", () => {
  assert.equal(rankCorrelation([1, 2, 3], [10, 20, 30]), 1);
  assert.equal(rankCorrelation([1, 2, 3], [3, 2, 1]), -1);
  assert.ok(Math.abs(rankCorrelation([1, 2, 2, 4], [1, 3, 2, 4]) - 0.9486832980505138) < 1e-12); // scipy
  assert.ok(Number.isNaN(rankCorrelation([1, 1], [1, 2])));
});
