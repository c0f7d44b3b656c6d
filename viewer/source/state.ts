// What a reader chose. All of it fits into the address, so that a link leads to the same view.
import { SCALES, type ScaleKind } from "./scale";
import { UNITS, type UnitKind } from "./units";

export interface State {
  item: number;
  beside: number; // another item, to the right of this one; -1: none
  a: number; // panel of a comparison
  b: number;
  show: "a" | "b" | "difference";
  ask: "from" | "to"; // what an output is made of, or who uses an input
  pinned: number[]; // tokens of the asked side
  unit: UnitKind;
  hide: boolean; // special tokens, or what the filter left out
  renormalise: boolean;
  scale: ScaleKind;
  layer: number; // index into by_layer; -1: the last
  begin: number; // of the layers to roll, if maps are there; -1: as computed
  end: number;
  residual: number; // -1: as computed
  least: number; // of a path
  opacity: number; // of the overlay on an image
  fold: boolean;
  theme: "system" | "light" | "dark";
  search: string;
}

export const START: State = {
  item: 0,
  beside: -1,
  a: 0,
  b: 1,
  show: "a",
  ask: "from",
  pinned: [],
  unit: "token",
  hide: false,
  renormalise: false,
  scale: "linear",
  layer: -1,
  begin: -1,
  end: -1,
  residual: -1,
  least: 0.02,
  opacity: 0.7,
  fold: false,
  theme: "system",
  search: "",
};

/** Only what differs from `from`. */
export function toHash(state: State, from: State = START): string {
  const parts: string[] = [];
  for (const name of Object.keys(START) as (keyof State)[]) {
    const text = `${state[name]}`;
    if (text !== `${from[name]}`) parts.push(`${name}=${encodeURIComponent(text)}`);
  }
  return parts.join("&");
}

const WORDS: Partial<Record<keyof State, readonly string[]>> = {
  show: ["a", "b", "difference"],
  ask: ["from", "to"],
  unit: UNITS,
  scale: SCALES,
  theme: ["system", "light", "dark"],
};

const SHARES = ["residual", "least", "opacity"]; // up to 1; the other numbers count something

/** What a link says; anything that it cannot say is left as it was. */
export function fromHash(hash: string, from: State = START): State {
  const state = { ...from };
  const put = state as unknown as Record<string, unknown>;
  for (const [name, text] of new URLSearchParams(hash.replace(/^#/, "")) as Iterable<[keyof State, string]>) {
    if (!Object.hasOwn(START, name) || text.includes("\ufffd")) continue; // not this page's own words
    const now = START[name];
    if (typeof now === "boolean") put[name] = text === "true";
    else if (typeof now === "number") {
      const number = +text;
      const can = SHARES.includes(name) ? number <= 1 : Number.isInteger(number);
      if (text !== "" && can && (number >= 0 || number === -1)) put[name] = number;
    } else if (Array.isArray(now)) {
      put[name] = text.split(",").filter(Boolean).map(Number).filter(Number.isInteger);
    } else if (!WORDS[name] || WORDS[name].includes(text)) put[name] = text;
  }
  return state;
}
