import assert from "node:assert/strict";
import { test } from "node:test";
import type { Menu } from "../source/server/contract";
import {
  type Draft,
  methodsFor,
  modelOf,
  optionsFor,
  questionOf,
  summary,
  takesFiles,
} from "../source/server/draft";
import { withDraft } from "../source/server/history";

const model = { about: "", layers: 2, classes: [], texts: [], images: [] };
const menu: Menu = {
  headwater: "0",
  files: true,
  methods: [
    { name: "rollout", options: ["row", "fuse", "keep"] },
    { name: "relevance", options: ["target", "rule"] },
    { name: "generate", options: ["count", "explain", "rule"] },
    { name: "compare", options: ["by", "other", "layer"] },
  ],
  models: [
    { ...model, name: "reader", sees: "text", writes: false, targets: false },
    { ...model, name: "writer", sees: "text", writes: true, targets: true },
    { ...model, name: "seer", sees: "image", writes: false, targets: true },
  ],
};
const draft: Draft = {
  model: "writer",
  method: "rollout",
  text: "a b",
  pair: "",
  options: {},
  upload: null,
  example: -1,
};

test("a question has what its method takes, and nothing else", () => {
  const options = { row: "cls", target: "x", fuse: " " };
  assert.deepEqual(questionOf({ ...draft, options }, menu), {
    method: "rollout",
    model: "writer",
    text: "a b",
    row: "cls",
    keep: true,
  });
});

test("without an input there is no question", () => {
  assert.equal(questionOf({ ...draft, text: "  " }, menu), null);
  assert.equal(questionOf({ ...draft, model: "seer" }, menu), null);
  assert.deepEqual(questionOf({ ...draft, model: "seer", example: 1 }, menu)!["example"], "1");
});

test("the second model of a comparison is another one that reads the same", () => {
  const asked = (more: Partial<Draft>) =>
    questionOf({ ...draft, method: "compare", options: { by: "model" }, ...more }, menu)?.["other"];
  assert.equal(asked({}), "reader");
  assert.equal(asked({ model: "reader" }), "writer");
  assert.equal(asked({ options: { by: "model", other: "writer" } }), "reader");
  assert.equal(asked({ model: "seer", example: 0 }), undefined);
});

test("a server of texts alone takes no files", () => {
  const alone = { ...menu, files: false, models: menu.models.filter(({ sees }) => sees === "text") };
  assert.deepEqual([menu, { ...menu, files: false }, alone].map(takesFiles), [true, true, false]);
});

test("a dropped file needs no model", () => {
  const upload = { kind: "file" as const, name: "x.npz", data: "AA==" };
  const question = questionOf({ ...draft, upload }, menu)!;
  assert.equal(question["model"], undefined);
  assert.deepEqual(question["file"], { name: "x.npz", data: "AA==" });
  assert.equal(modelOf({ ...draft, upload }, menu), undefined);
  assert.deepEqual(methodsFor(undefined, menu), ["rollout", "compare"]);
});

test("options show where they have an effect", () => {
  assert.deepEqual(optionsFor({ ...draft, method: "generate" }, menu), ["explain", "count"]);
  const explain = { explain: "relevance" };
  assert.deepEqual(optionsFor({ ...draft, method: "generate", options: explain }, menu), [
    "explain",
    "rule",
    "count",
  ]);
  assert.deepEqual(optionsFor({ ...draft, method: "compare", options: { by: "layer" } }, menu), [
    "by",
    "layer",
  ]);
});

test("what a comparison sets itself is neither shown nor sent", () => {
  const options = ["row", "layers", "fuse", "residual", "discard", "by", "other", "layer"];
  const known = { ...menu, methods: [{ name: "compare", options }] };
  const shown = (by: string) => optionsFor({ ...draft, method: "compare", options: { by } }, known);
  assert.deepEqual(shown("fuse"), ["by", "row", "layers", "residual", "discard"]);
  assert.deepEqual(shown("head"), ["by", "row", "layers"]);
  assert.deepEqual(shown("discard"), ["by", "row", "layers", "fuse", "residual"]);
  assert.ok(!shown("").includes("layer"));
  const asked = { by: "head", residual: "0.2", fuse: "max", row: "1" };
  assert.deepEqual(questionOf({ ...draft, method: "compare", options: asked }, known), {
    method: "compare",
    model: draft.model,
    text: draft.text,
    by: "head",
    row: "1",
  });
});

test("the history has each input once, and not the words on the way to it", () => {
  let history: Draft[] = [];
  for (const text of ["T", "The", "The keys", "Another", "The keys"])
    history = withDraft(history, { ...draft, text });
  assert.deepEqual(
    history.map((one) => one.text),
    ["The keys", "Another"],
  );
  assert.ok(summary(history[0]!).startsWith("The keys"));
});
