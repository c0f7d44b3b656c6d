// One reader's view of a page: the data, what was chosen, and what follows from both.
import type { Attribution, Comparison, Item, Page, Tokens } from "./contract";
import { whole } from "./draw";
import { floatGrid, type Grid } from "./grid";
import { type Lens, lensOf, type Side } from "./lens";
import { floats } from "./arrays";
import { min } from "./numbers";
import { type Palette, palette, type Shade, shadeFor } from "./scale";
import { fromHash, START, type State, toHash } from "./state";
import { type Units, unitsOf } from "./units";
import { unpack } from "./unpack";

export interface Question {
  ask: "from" | "to";
  units: number[]; // of outputs for "from", of inputs for "to"
}

export interface Answer {
  asked: Question;
  from: boolean; // inputs answer: what an output is made of
  amounts: Float32Array; // over the units of the other side; NaN where there is no value
  shade: Shade;
  hovering: boolean;
}

export interface Cell {
  row: number;
  column: number;
}

/** Where a session is shown. */
export interface Place {
  name: string; // "" for the first or only one of a document, and before the ids of any other
  linked: boolean; // its view is in the address
}

export interface Session {
  readonly page: Page;
  readonly place: Place;
  state: State;
  hovered: Question | null;
  cell: Cell | null; // of the lens, under the pointer
  grids: { shown: Grid; a: Grid; b: Grid | null } | null; // of a comparison: A and B

  readonly item: Item;
  readonly compared: Comparison | null;
  readonly shows: boolean; // the item has values to look at; only then is there any of what follows
  panel(which: number): Attribution;
  readonly one: Attribution; // the result that is looked at
  readonly differs: boolean; // A less B
  readonly hasSigns: boolean;
  readonly isMean: boolean;
  readonly outputTokens: Tokens;
  readonly inputUnits: Units;
  readonly outputUnits: Units;
  readonly twoTexts: boolean;
  readonly isPinned: boolean;
  readonly lens: Lens;
  readonly bothLenses: [Lens, Lens] | null; // of A and B, whichever of them the other views show
  readonly answer: Answer;
  units(tokens: Tokens): Units;
  side(isInput: boolean): Side;
  matrix(of: Attribution, k: number): Promise<Grid>;
  layerOf(of: Attribution): number;
  valuesOf(question: Question, lens?: Lens): Float32Array;
  labelOf(question: Question): string;
  canAsk(ask: Question["ask"], unit: number): boolean;

  readonly dark: boolean;
  readonly palette: Palette;
  readonly overlayPalette: Palette; // over an image, large values light up

  update(change: Partial<State>): void;
  setLayer(layer: number): void;
  setRolled(values: Float32Array | null): void; // recomputed in the page; null: as in the page
  hover(question: Question | null, cell?: Cell | null): void;
  /** The pointer asks about a unit: about nothing if that cannot be asked, and not while something is pinned. */
  point(ask: Question["ask"], unit: number): void;
  /** Pins the tokens of a unit, alone or in addition; a pinned one comes off. */
  pin(ask: Question["ask"], unit: number, add: boolean): void;
  /** Unpacks what the view needs; tells the views when it is there. */
  load(): Promise<void>;
  /** Both return what ends it. */
  onChange(listener: () => void): () => void;
  onHover(listener: () => void): () => void;
}

/** The layers and the residual that the result itself has. */
export const AS_COMPUTED = { begin: -1, end: -1, residual: -1 };
/** What another result starts with. */
export const ANEW: Partial<State> = { pinned: [], layer: -1, a: 0, b: 1, show: "a", ...AS_COMPUTED };
export const SYSTEM = matchMedia("(prefers-color-scheme: dark)");

/** Adds a listener; what it returns takes it away. */
const into = (listeners: Set<() => void>) => (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** `like`: what was chosen in the view before. */
export function sessionOf(
  page: Page,
  hash: string,
  place: Place = { name: "", linked: true },
  like: Partial<State> = {},
): Session {
  const unpacked = new Map<object, Promise<Grid>>();
  const unitsOfTokens = new Map<Tokens, { [kind in State["unit"]]?: Units }>();
  const listeners = new Set<() => void>();
  const hoverListeners = new Set<() => void>();
  let rolled: Grid | null = null; // recomputed in the page
  let lensNow: Lens | null = null;
  let answerNow: Answer | null = null;
  let loading = 0;
  let waiting = false;

  const start = { ...START };
  const first = page.items[0];
  const one = first?.kind === "comparison" ? first.panels[0] : first;
  if (one?.kind === "attribution") {
    // In a long text each path has less.
    if (one.inputs.labels.length > 64) start.least = 0.005;
    if (one.left_out) {
      start.hide = true;
      start.renormalise = one.renormalise;
    }
  }

  const session: Session = {
    page,
    place,
    state: fromHash(hash, { ...start, ...like }),
    hovered: null,
    cell: null,
    grids: null,

    onChange: into(listeners),
    onHover: into(hoverListeners),

    get item() {
      return page.items[session.state.item]!;
    },
    get compared() {
      return session.item.kind === "comparison" ? session.item : null;
    },
    get shows() {
      return session.item.kind === "attribution" || !!session.compared;
    },
    panel(which) {
      const panels = session.compared?.panels;
      return panels ? (panels[which] ?? panels[0]!) : (session.item as Attribution);
    },
    get one() {
      const { show, a, b } = session.state;
      return session.panel(show === "b" ? b : a);
    },
    get differs() {
      return !!session.compared && session.state.show === "difference";
    },
    get hasSigns() {
      return session.differs || session.one.signed;
    },
    get outputTokens() {
      return session.one.outputs ?? session.one.inputs;
    },
    get isMean() {
      return session.panel(session.state.a).mean;
    },
    get twoTexts() {
      return !!session.one.outputs;
    },
    get dark() {
      // A second view is as the first one.
      if (place.name) return whole().dataset["theme"] === "dark";
      const { theme } = session.state;
      return theme === "dark" || (theme === "system" && SYSTEM.matches);
    },
    get palette() {
      return palette(session.dark, session.hasSigns);
    },
    get overlayPalette() {
      return palette(session.dark || !session.hasSigns, session.hasSigns);
    },

    update(change) {
      const before = session.state;
      const state = (session.state = { ...before, ...change });
      if (state.item !== before.item) {
        Object.assign(state, ANEW);
        session.grids = null; // those of another result; nothing is drawn until the new ones are there
      }
      if (session.isMean) state.ask = "from"; // there is no output that could use an input
      forget();
      session.hovered = session.cell = null;
      remember();
      if (["item", "a", "b", "show", "layer"].some((name) => name in change)) void session.load();
      else tell();
    },

    matrix(of, k) {
      const packed = of.values[k]!;
      if (!unpacked.has(packed)) unpacked.set(packed, unpack(packed, of.signed));
      return unpacked.get(packed)!;
    },
    layerOf(of) {
      const { layer } = session.state;
      return layer < 0 ? firstLayer(of) : min(layer, of.values.length - 1);
    },
    setLayer(layer) {
      session.update({ layer: layer === firstLayer(session.one) ? -1 : layer });
    },

    async load() {
      const ticket = ++loading;
      rolled = null;
      if (!session.shows) return tell();
      const { a, b, show } = session.state;
      const grid = (panel: Attribution) => session.matrix(panel, session.layerOf(panel));
      const [gridA, gridB] = await Promise.all([
        grid(session.panel(a)),
        session.compared && grid(session.panel(b)),
      ]);
      if (ticket !== loading) return;
      session.grids = { shown: gridB && show === "b" ? gridB : gridA, a: gridA, b: gridB };
      forget();
      tell();
    },
    setRolled(values) {
      const grid = session.grids?.shown;
      rolled = values && grid ? floatGrid(grid.high, grid.wide, values) : null;
      forget();
      tell();
    },

    units(tokens) {
      const kind = session.one.image ? "token" : session.state.unit;
      const known = unitsOfTokens.get(tokens) ?? {};
      unitsOfTokens.set(tokens, known);
      return (known[kind] ??= unitsOf(tokens, kind));
    },
    get inputUnits() {
      return session.units(session.one.inputs);
    },
    get outputUnits() {
      return session.units(session.outputTokens);
    },
    side(isInput) {
      const { one, state } = session;
      const tokens = isInput ? one.inputs : session.outputTokens;
      const unseen = new Uint8Array(tokens.labels.length);
      const leftOut = isInput || !session.twoTexts ? one.left_out : null;
      if (state.hide) for (const t of leftOut ?? tokens.special) unseen[t] = 1;
      return { units: session.units(tokens), unseen };
    },

    get lens() {
      const { one, state } = session;
      return (lensNow ??= lensOf({
        grid: rolled ?? session.grids!.shown,
        minus: session.differs ? session.grids!.b : null,
        inputs: session.side(true),
        outputs: session.side(false),
        rowTokens: one.mean ? [-1] : one.rows,
        columnTokens: one.columns,
        renormalise: state.hide && state.renormalise && !one.signed,
      }));
    },
    get bothLenses() {
      const { a, b } = session.grids ?? {};
      const of = (grid: Grid) => lensOf({ ...session.lens.how, grid, minus: null });
      return a && b ? ([of(a), of(b)] as [Lens, Lens]) : null;
    },

    get isPinned() {
      return session.state.pinned.length > 0;
    },
    valuesOf({ ask, units }, lens = session.lens) {
      const { columns } = session.one;
      if (ask === "to") {
        const column = lens.column(units);
        const out = floats(session.outputUnits.members.length).fill(NaN);
        lens.rowUnits.forEach((unit, r) => (out[unit] = column[r]!));
        return out;
      }
      const out = floats(lens.wide).fill(columns ? NaN : 0);
      for (const t of columns ?? []) out[session.inputUnits.of[t]!] = 0;
      for (const unit of units) {
        const r = lens.rowOfUnit(unit);
        if (r !== undefined) lens.addRow(r, out);
      }
      return out;
    },
    get answer() {
      if (answerNow) return answerNow;
      const question = session.hovered ?? pinnedQuestion();
      const from = question.ask === "from";
      const values = session.valuesOf(question);
      // The patches of an image have all of the colours: [CLS] is often larger than any of them.
      const prefix = (from && session.one.image?.prefix) || 0;
      const shade = shadeFor(
        session.state.scale,
        values.slice(prefix).filter((value) => !isNaN(value)),
      );
      return (answerNow = { asked: question, from, amounts: values, shade, hovering: !!session.hovered });
    },
    canAsk(ask, unit) {
      return ask === "to" || session.lens.rowOfUnit(unit) !== undefined;
    },
    hover(question, cell = null) {
      const differs = (a: object | null, b: object | null) => JSON.stringify(a) !== JSON.stringify(b);
      const other = differs(question, session.hovered);
      if (!other && !differs(cell, session.cell)) return;
      session.hovered = question;
      session.cell = cell;
      if (other) answerNow = null;
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        if (session.grids) for (const listener of hoverListeners) listener();
      });
    },
    point(ask, unit) {
      if (!session.isPinned) session.hover(session.canAsk(ask, unit) ? { ask, units: [unit] } : null);
    },
    pin(ask, unit, add) {
      const { pinned, ask: before } = session.state;
      const own = (ask === "from" ? session.outputUnits : session.inputUnits).members[unit];
      if (!own || !session.canAsk(ask, unit)) return;
      const same = ask === before;
      const there = same && own.every((t) => pinned.includes(t));
      let next = there && pinned.length === own.length ? [] : own;
      if (add && same)
        next = there ? pinned.filter((t) => !own.includes(t)) : [...new Set([...pinned, ...own])];
      session.update({ ask, pinned: next });
    },
    labelOf({ ask, units }) {
      const { names: labels } = ask === "from" ? session.outputUnits : session.inputUnits;
      if (units[0] === -1) return "mean of the outputs";
      const names = units.slice(0, 4).map((unit) => `\u201c${labels[unit]}\u201d`);
      const more = units.length - names.length;
      return names.join(" + ") + (more > 0 ? ` + ${more} more` : "");
    },
  };

  /** What is asked if the pointer is nowhere. */
  function pinnedQuestion(): Question {
    const { ask, pinned } = session.state;
    const { units, unseen } = session.side(ask === "to");
    const asked = pinned.flatMap((t) => {
      const unit = units.of[t];
      return unit === undefined || unseen[t] || !session.canAsk(ask, unit) ? [] : [unit];
    });
    if (asked.length) return { ask, units: [...new Set(asked)] };
    const from: Question = { ask: "from", units: [defaultUnit()] };
    if (ask === "from") return from;
    const row = session.valuesOf(from);
    let best = 0;
    row.forEach((value, k) => (best = value > row[best]! || isNaN(row[best]!) ? k : best));
    return { ask, units: [best] };
  }
  function defaultUnit(): number {
    const { lens, one, outputUnits } = session;
    const unit = one.mean ? -1 : outputUnits.of[one.rows[one.shown] ?? one.rows[0]!]!;
    return lens.rowOfUnit(unit) !== undefined ? unit : (lens.rowUnits[0] ?? -1);
  }
  /** The matrix that is shown first: the last, but for relevance that of the input. */
  function firstLayer(of: Attribution): number {
    return of.by_layer?.[0] === -1 ? 0 : of.values.length - 1;
  }
  function forget(): void {
    lensNow = answerNow = null;
  }
  function remember(): void {
    if (!place.linked) return;
    const hash = toHash(session.state, start);
    try {
      history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    } catch {
      try {
        location.replace("#" + hash); // in a frame without an origin
      } catch {
        // a view that cannot be linked to is still a view
      }
    }
  }
  function tell(): void {
    for (const listener of listeners) listener();
  }

  if (!page.items[session.state.item]) session.state.item = 0;
  if (session.isMean) session.state.ask = "from";
  return session;
}
