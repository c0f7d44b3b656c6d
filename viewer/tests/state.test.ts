import assert from "node:assert/strict";
import { test } from "node:test";
import { shadeFor, written } from "../source/scale";
import { fromHash, START, toHash } from "../source/state";

test("a link leads to the same view", () => {
  const state = { ...START, pinned: [3, 5], ask: "to" as const, search: "a&b=c", residual: 0.25, hide: true };
  assert.deepEqual(fromHash("#" + toHash(state)), state);
  assert.equal(toHash(START), "");
});

test("a link that makes no sense changes nothing", () => {
  assert.deepEqual(fromHash("#scale=purple&item=x&pinned=1,two&__proto__=1&search=%E0%A4%A"), {
    ...START,
    pinned: [1],
  });
});

test("a link counts in whole numbers and shares up to one", () => {
  const odd = "#layer=1.5&item=0.5&begin=-7&end=2.5&residual=5&least=-2&opacity=7";
  assert.deepEqual(fromHash(odd), START);
  assert.equal(fromHash("#residual=0.25&layer=3").layer, 3);
});

test("scales keep signs and order", () => {
  assert.equal(shadeFor("linear", Float32Array.of(0.5, -1)).of(-0.5), -0.5);
  const log = shadeFor("log", Float32Array.of(1));
  assert.equal(log.of(1), 1);
  assert.equal(log.of(1e-2), 0.5);
  assert.equal(log.of(1e-9), 0);
  const rank = shadeFor("rank", Float32Array.of(0, 0.1, 0.2, -0.3, 0.2));
  assert.deepEqual([0, 0.1, 0.2, -0.3].map(rank.of), [0, 0.25, 0.75, -1]);
  assert.equal(shadeFor("log", new Float32Array(2)).of(0), 0);
});

test("numbers have three digits", () => {
  assert.equal(written(0.30444), "0.304");
  assert.equal(written(0.0000123456), "1.23e\u22125");
  assert.equal(written(0.30444, false), "0.3");
});
