import assert from "node:assert/strict";
import { test } from "node:test";
import { unitsOf } from "../source/units";

const tokens = {
  labels: ["[CLS]", "The", "key", "\u00b7s", ".", "Two", "[SEP]"],
  before: ["", "", " ", "", "", " ", ""],
  text: ["", "The", "key", "s", ".", "Two", ""],
  special: [0, 6],
};

test("a word has all of its tokens, and special tokens stay alone", () => {
  assert.deepEqual(unitsOf(tokens, "word").members, [[0], [1], [2, 3], [4], [5], [6]]);
  assert.deepEqual(unitsOf(tokens, "word").names, ["[CLS]", "The", "keys", ".", "Two", "[SEP]"]);
});

test("a sentence ends at its full stop", () => {
  assert.deepEqual(unitsOf(tokens, "sentence").members, [[0], [1, 2, 3, 4], [5], [6]]);
});

test("tokens that begin with a space belong to the word after it", () => {
  const bytes = { labels: ["a", "b", "c"], before: ["", "", ""], text: ["one", " tw", "o"], special: [] };
  assert.deepEqual(unitsOf(bytes, "word").members, [[0], [1, 2]]);
});

test("a paragraph ends at a line end", () => {
  const lines = {
    labels: ["a", "b", "c"],
    before: ["", "\n", " "],
    text: ["one", "two", "three"],
    special: [],
  };
  assert.deepEqual(unitsOf(lines, "paragraph").members, [[0], [1, 2]]);
  assert.deepEqual([...unitsOf(lines, "paragraph").of], [0, 1, 1]);
});
