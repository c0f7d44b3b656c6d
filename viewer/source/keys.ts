// Everything that the keyboard does.
import { on } from "./draw";
import { clamp, max } from "./numbers";
import { SCALES } from "./scale";
import type { Session } from "./session";
import type { State } from "./state";
import { UNITS } from "./units";

type When = (session: Session) => unknown;
const ofText: When = ({ one }) => !one.image;

// All but the last three are for values to look at.
const KEYS: [string, string, When?][] = [
  ["\u2190 \u2192", "previous or next output; cells of the matrix"],
  ["Enter, click", "pin or unpin it"],
  ["Shift+Enter, Shift+click", "pin one more; values are summed"],
  ["Esc", "unpin everything, clear the search"],
  ["t", "reverse the question", ({ isMean }) => !isMean],
  ["u", "next unit: token, word, sentence, paragraph", ofText],
  ["s", "hide or show special tokens"],
  ["n", "renormalise the rest", ({ hasSigns }) => !hasSigns],
  ["c", "next scale: linear, logarithmic, by rank"],
  ["f", "fold quiet paragraphs", ofText],
  ["[ ]", "a layer down or up", ({ one }) => (one.by_layer?.length ?? 0) > 1 || one.maps],
  ["a b d", "compare: A, B, their difference", ({ compared }) => compared],
  ["/", "search tokens"],
  ["1 2 3 4", "go to text, matrix, layers, ranking"],
  ["wheel, + \u2212 0", "zoom the matrix; double click: all of it"],
  ["drag, Alt+drag", "select in the matrix; move it"],
  ["l", "light, dark, or as the system"],
  ["e", "export"],
  ["?", "these keys"],
];

/** The keys that do something here. */
export const keysOf = (session: Session) =>
  session.shows ? KEYS.filter(([, , when]) => !when || when(session)) : KEYS.slice(-3);

const next = <Word>(words: readonly Word[], now: Word): Word =>
  words[(words.indexOf(now) + 1) % words.length]!;

const CHANGES: Record<string, (state: State) => Partial<State>> = {
  t: ({ ask }) => ({ ask: ask === "from" ? "to" : "from", pinned: [] }),
  u: ({ unit }) => ({ unit: next(UNITS, unit) }),
  s: ({ hide }) => ({ hide: !hide }),
  n: ({ renormalise }) => ({ hide: true, renormalise: !renormalise }),
  c: ({ scale }) => ({ scale: next(SCALES, scale) }),
  f: ({ fold }) => ({ fold: !fold }),
};

export interface Actions {
  help: () => void;
  export: () => void;
  search: () => void;
  focus: (view: string) => void;
  close: () => boolean; // whether something was open
}

// The place whose view takes the keys.
let active = "";
export function activate(session: Session): void {
  active = session.place.name;
}

/** Returns what ends it. */
export function listen(session: Session, actions: Actions): () => void {
  const press = (event: KeyboardEvent) => {
    if (active !== session.place.name) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const typing =
      /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && (target as HTMLInputElement).type !== "checkbox";
    if (event.key === "Escape") {
      if (actions.close()) return;
      if (typing) target.blur();
      return session.update({ pinned: [], search: "" });
    }
    if (typing && (target as HTMLInputElement).type !== "range") return;
    const { state } = session;
    const change = CHANGES[event.key];
    if (event.key === "?") actions.help();
    else if (event.key === "l")
      session.update({ theme: next(["system", "light", "dark"] as const, state.theme) });
    else if (event.key === "e") actions.export();
    else if (!session.shows) return;
    else if (change) session.update(change(state));
    else if (event.key === "[" || event.key === "]") step(session, event.key === "]" ? 1 : -1);
    else if ("abd".includes(event.key) && session.compared)
      session.update({ show: event.key === "d" ? "difference" : (event.key as "a" | "b") });
    else if (event.key === "/") actions.search();
    else if (/^[1-4]$/.test(event.key)) actions.focus(event.key);
    else return;
    event.preventDefault();
  };
  return on(window, { keydown: press });
}

function step(session: Session, by: number): void {
  const { one, state } = session;
  if (one.by_layer && one.by_layer.length > 1) {
    session.setLayer(clamp(session.layerOf(one) + by, 0, one.by_layer.length - 1));
  } else if (one.maps) {
    const count = one.maps.length;
    const end = clamp((state.end < 0 ? count : state.end) + by, max(0, state.begin) + 1, count);
    session.update({ end: end === count ? -1 : end });
  }
}
