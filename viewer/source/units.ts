// Tokens put together to words, sentences or paragraphs, by the rules of Unicode and the language.
import type { Tokens } from "./contract";

export const UNITS = ["token", "word", "sentence", "paragraph"] as const;
export type UnitKind = (typeof UNITS)[number];

export interface Units {
  of: Int32Array; // the unit of each token
  members: number[][]; // the tokens of each unit
  names: string[];
}

const LONGEST = 32;
/** What stands for a token that shows nothing. */
export const NOTHING = "\u2205";

export function shortened(text: string, most = LONGEST): string {
  const letters = [...text.trim().replace(/\s+/g, " ")];
  return letters.length <= most ? letters.join("") : letters.slice(0, most - 1).join("") + "\u2026";
}

/** For every token, the number of the segment that its first visible character is in. */
function segmentOf(tokens: Tokens, kind: UnitKind): number[] {
  let text = "";
  const starts = tokens.text.map((own, t) => {
    text += tokens.before[t];
    const start = text.length + (own.length - own.trimStart().length);
    text += own;
    return own.trim() === "" ? text.length - own.length : start;
  });
  const ends: number[] = []; // of segments, ascending
  if (kind === "paragraph")
    for (const match of text.matchAll(/\n+|$/g)) ends.push(match.index + match[0].length);
  else {
    const segments = new Intl.Segmenter(undefined, { granularity: kind as "word" | "sentence" });
    for (const one of segments.segment(text)) ends.push(one.index + one.segment.length);
  }
  let at = 0;
  return starts.map((start) => {
    while (at < ends.length - 1 && ends[at]! <= start) at++;
    return at;
  });
}

/** Special tokens are units of their own, and so is a token without text. */
export function unitsOf(tokens: Tokens, kind: UnitKind): Units {
  const count = tokens.labels.length;
  const of = new Int32Array(count);
  const members: number[][] = [];
  const alone = new Set(tokens.special);
  const segment = kind === "token" ? [] : segmentOf(tokens, kind);
  let last = -1;
  for (let t = 0; t < count; t++) {
    const together = kind !== "token" && !alone.has(t) && tokens.text[t] !== "";
    if (together && segment[t] === last) members[members.length - 1]!.push(t);
    else members.push([t]);
    last = together ? segment[t]! : -1;
    of[t] = members.length - 1;
  }
  const names = members.map((group) => {
    if (group.length === 1) return tokens.labels[group[0]!] || NOTHING;
    return shortened(group.map((t, k) => (k ? tokens.before[t]! : "") + tokens.text[t]!).join(""));
  });
  return { of, members, names };
}
