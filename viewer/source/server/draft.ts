// What a person has typed and chosen, and the question that it makes.
import type { Menu, ServedModel } from "./contract";

export interface Upload {
  kind: "image" | "file";
  name: string;
  data: string; // base64
}

export interface Draft {
  model: string;
  method: string;
  text: string;
  pair: string;
  options: Record<string, string>; // by name; "" as if it were not there
  upload: Upload | null;
  example: number; // of the model's images; -1: none
}

export interface OptionKind {
  label: string;
  about: string;
  hint: string; // the default
  words: (model: ServedModel | undefined, draft: Draft, menu: Menu) => readonly string[];
  closed?: boolean; // nothing but these words
}

const RULES: Record<string, readonly string[]> = {
  gradient: ["gradient", "gradient-rollout", "chefer"],
  relevance: ["frozen", "attnlrp", "integrated"],
  generate: ["frozen", "attnlrp"],
};

const kind = (
  label: string,
  about: string,
  hint: string,
  words: OptionKind["words"] = () => [],
  closed = false,
): OptionKind => ({ label, about, hint, words, closed });

/** The models that the chosen one can be compared with. */
function othersFor(model: ServedModel | undefined, _: Draft, menu: Menu): string[] {
  return menu.models.filter((one) => one !== model && one.sees === model?.sees).map(({ name }) => name);
}

/** In the order in which they are shown. */
export const OPTIONS: Record<string, OptionKind> = {
  by: kind(
    "by",
    "What to compare",
    "method",
    (model, draft, menu) => [
      ...["method", "layer", "evolution", "discard", "fuse", "head"],
      ...(othersFor(model, draft, menu).length ? ["model"] : []),
    ],
    true,
  ),
  other: kind("other", "The second model", "", othersFor, true),
  target: kind("target", "The logit: a class, a word, or best", "best", (model) => model?.classes ?? []),
  against: kind("against", "A second logit, which is subtracted", "none", (model) => model?.classes ?? []),
  explain: kind(
    "explain",
    "How each new token is explained",
    "rollout",
    () => ["rollout", "relevance"],
    true,
  ),
  rule: kind("rule", "How the method passes back", "", (_, { method }) => RULES[method] ?? [], true),
  row: kind("row", "The output token: a number, cls, last, mask, mean or all", "all", () => [
    "all",
    "cls",
    "last",
    "mask",
    "mean",
  ]),
  layer: kind("layer", "One layer; -1 is the last", "-1"),
  layers: kind("layers", "Layers j up to but not including i: 0:6, 3:, :-1", "all"),
  fuse: kind("fuse", "How heads become one", "mean", () => ["mean", "max", "min", "head:0"]),
  residual: kind("residual", "Weight of the residual connection, 0 to 1", "0.5"),
  discard: kind("discard", "Share of the smallest weights to drop", "0"),
  count: kind("count", "How many tokens to write", "20"),
  item: kind("item", "Which item of the file's batch", "0"),
};

export function modelOf(draft: Draft, menu: Menu): ServedModel | undefined {
  return draft.upload?.kind === "file" ? undefined : menu.models.find(({ name }) => name === draft.model);
}

/** Whether there is anything to drop: a model in PyTorch takes texts alone. */
export function takesFiles(menu: Menu): boolean {
  return menu.files || menu.models.some(({ sees }) => sees === "image");
}

/** The methods that what is chosen can have. */
export function methodsFor(model: ServedModel | undefined, menu: Menu): string[] {
  return menu.methods
    .map(({ name }) => name)
    .filter((name) => {
      if (name === "generate") return model?.writes ?? false;
      return name === "gradient" || name === "relevance" ? (model?.targets ?? false) : true;
    });
}

/** What a comparison sets itself, or has no use for. */
const OWN: Record<string, readonly string[]> = {
  method: ["layer"],
  evolution: ["layer"],
  discard: ["layer", "discard"],
  fuse: ["layer", "fuse"],
  head: ["layer", "discard", "fuse", "residual"],
  model: ["layer"],
};

/** The options of the method, some of which only go with others. */
export function optionsFor(draft: Draft, menu: Menu): string[] {
  const { options } = draft;
  const known = menu.methods.find(({ name }) => name === draft.method)?.options ?? [];
  const names = draft.upload?.kind === "file" ? [...known, "item"] : known;
  return Object.keys(OPTIONS).filter((name) => {
    if (!names.includes(name)) return false;
    if (name === "other") return options["by"] === "model";
    if (draft.method === "compare" && OWN[options["by"] || "method"]?.includes(name)) return false;
    if (name === "rule" && draft.method === "generate") return options["explain"] === "relevance";
    return true;
  });
}

/** What is sent; null if there is nothing to ask about yet. */
export function questionOf(draft: Draft, menu: Menu): Record<string, unknown> | null {
  const { upload, method, text } = draft;
  const question: Record<string, unknown> = { method };
  if (upload?.kind !== "file") question["model"] = draft.model;
  const sees = modelOf(draft, menu)?.sees;
  if (upload) question[upload.kind] = { name: upload.name, data: upload.data };
  else if (sees === "image" && draft.example >= 0) question["example"] = String(draft.example);
  else if (sees === "text" && text.trim()) question["text"] = text;
  else return null;
  if (question["text"] !== undefined && draft.pair.trim()) question["pair"] = draft.pair;
  for (const name of optionsFor(draft, menu)) {
    const value = (draft.options[name] ?? "").trim();
    if (value) question[name] = value;
  }
  if (method === "compare" && question["by"] === "model") {
    const others = othersFor(modelOf(draft, menu), draft, menu);
    if (!others.includes(String(question["other"]))) question["other"] = others[0];
    if (!others.length) return null;
  }
  if (menu.methods.find(({ name }) => name === method)?.options.includes("keep")) question["keep"] = true;
  return question;
}

/** One line that tells drafts apart. */
export function summary(draft: Draft): string {
  const words = draft.upload?.name ?? (draft.text.trim() || `example ${draft.example + 1}`);
  const short = words.length > 60 ? words.slice(0, 59) + "\u2026" : words;
  const options = Object.entries(draft.options)
    .filter(([, value]) => value)
    .map(([name, value]) => `${name} ${value}`);
  return [short, draft.upload?.kind === "file" ? "" : draft.model, draft.method, ...options]
    .filter(Boolean)
    .join(" \u00b7 ");
}
