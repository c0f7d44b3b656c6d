import assert from "node:assert/strict";
import { test } from "node:test";
import { fromRoot, gridOf, halfToFloat, sumRows } from "../source/grid";

const packed = {
  rows: 2,
  columns: 2,
  coding: "root8" as const,
  steps: 255,
  difference: true,
  scale: "",
  data: "",
};

test("halves are IEEE's", () => {
  assert.equal(halfToFloat(0x3c00), 1);
  assert.equal(halfToFloat(0xb800), -0.5);
  assert.equal(halfToFloat(0x0001), 2 ** -24);
  assert.equal(halfToFloat(0x3555), 0.333251953125);
});

test("rows are sums of differences, in each plane of bytes", () => {
  const bytes = Uint8Array.of(1, 2, 3, 255, 10, 20, 1, 1);
  sumRows(bytes, 2, 4);
  assert.deepEqual([...bytes], [1, 2, 4, 1, 10, 20, 11, 21]);
});

test("a byte is a root, over its row's largest", () => {
  const grid = gridOf(packed, Float32Array.of(0.5, 2), Uint8Array.of(255, 0, 0, 51), false);
  assert.equal(grid.at(0, 0), 0.5);
  assert.equal(grid.at(0, 1), 0);
  assert.equal(grid.at(1, 0), 2);
  assert.ok(Math.abs(grid.at(1, 1) - 2 / 25) < 1e-7);
  const row = new Float32Array(2);
  grid.addRow(1, row);
  assert.equal(row[0], 2);
});

test("with signs the lowest bit is the sign", () => {
  assert.equal(fromRoot(254, 127, true), 1);
  assert.equal(fromRoot(255, 127, true), -1);
  assert.equal(Math.abs(fromRoot(1, 127, true)), 0);
});
