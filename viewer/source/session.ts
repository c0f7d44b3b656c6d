// One reader's view of a page: the data, what was chosen, and what follows from both.
import type { Attribution, Comparison, Item, Page, Tokens } from "./contract";
import { FloatGrid, type Grid } from "./grid";
import { Lens, type Side } from "./lens";
import { type Palette, palette, type Shade, shadeFor } from "./scale";
import { fromHash, START, type State, toHash } from "./state";
import { type Units, unitsOf } from "./units";
import { unpack } from "./unpack";

export interface Question {
  ask: "from" | "to";
  units: number[]; // of outputs for "from", of inputs for "to"
}

export interface Answer {
  question: Question;
  values: Float32Array; // over the units of the other side; NaN where there is no value
  shade: Shade;
  hovering: boolean;
}

/** Where a session is shown. */
export interface Place {
  name: string; // "" for the first or only one of a document, and before the ids of any other
  linked: boolean; // its view is in the address
}

export class Session {
  state: State;
  hovered: Question | null = null;
  cell: { row: number; column: number } | null = null; // of the lens, under the pointer
  grids: { shown: Grid; a: Grid; b: Grid | null } | null = null; // of a comparison: A and B
  rolled: Grid | null = null; // recomputed in the page
  readonly start: State;
  private readonly unpacked = new Map<object, Promise<Grid>>();
  private readonly listeners = new Set<() => void>();
  private readonly hoverListeners = new Set<() => void>();
  private lensNow: Lens | null = null;
  private answerNow: Answer | null = null;
  private loading = 0;
  private waiting = false;

  /** `like`: what was chosen in the view before. */
  constructor(
    readonly page: Page,
    hash: string,
    readonly place: Place = { name: "", linked: true },
    like: Partial<State> = {},
  ) {
    const first = page.items[0];
    this.start = { ...START };
    const one = first?.kind === "comparison" ? first.panels[0] : first;
    // In a long text each way has less.
    if (one?.kind === "attribution" && one.inputs.labels.length > 64) this.start.least = 0.005;
    if (one?.kind === "attribution" && one.left_out) {
      this.start.hide = true;
      this.start.renormalise = one.renormalise;
    }
    this.state = fromHash(hash, { ...this.start, ...like });
    const count = page.items.length;
    if (!(this.state.item >= 0 && this.state.item < count)) this.state.item = 0;
    if (this.isMean) this.state.ask = "from";
  }

  /** Both return what ends it. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  onHover(listener: () => void): () => void {
    this.hoverListeners.add(listener);
    return () => this.hoverListeners.delete(listener);
  }

  get item(): Item {
    return this.page.items[this.state.item]!;
  }
  get comparison(): Comparison | null {
    return this.item.kind === "comparison" ? this.item : null;
  }
  /** Whether the item has values to look at. */
  get shows(): boolean {
    return this.item.kind === "attribution" || this.item.kind === "comparison";
  }
  panel(which: number): Attribution | null {
    const item = this.item;
    if (item.kind === "attribution") return item;
    return item.kind === "comparison" ? (item.panels[which] ?? item.panels[0]!) : null;
  }
  /** The result that is looked at. */
  get one(): Attribution {
    return this.panel(this.state.show === "b" ? this.state.b : this.state.a)!;
  }
  get difference(): boolean {
    return this.comparison !== null && this.state.show === "difference";
  }
  get signed(): boolean {
    return this.difference || this.one.signed;
  }
  get outputs(): Tokens {
    return this.one.outputs ?? this.one.inputs;
  }
  get isMean(): boolean {
    return this.panel(this.state.a)?.mean ?? false;
  }
  get twoTexts(): boolean {
    return this.one.outputs !== undefined;
  }
  get dark(): boolean {
    // A second view is as the first one.
    if (this.place.name) return document.documentElement.dataset["theme"] === "dark";
    const { theme } = this.state;
    return theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  }
  get palette(): Palette {
    return palette(this.dark, this.signed);
  }
  /** Over an image, large values light up. */
  get overlayPalette(): Palette {
    return palette(this.signed ? this.dark : true, this.signed);
  }

  update(change: Partial<State>): void {
    const before = this.state;
    this.state = { ...before, ...change };
    if (change.item !== undefined && change.item !== before.item) {
      Object.assign(this.state, {
        pinned: [],
        layer: -1,
        begin: -1,
        end: -1,
        residual: -1,
        a: 0,
        b: 1,
        show: "a",
      });
      this.grids = null; // those of another result; nothing is drawn until the new ones are there
    }
    if (this.isMean) this.state.ask = "from"; // there is no output that could use an input
    this.forget();
    this.hovered = this.cell = null;
    this.remember();
    const needsLoad = ["item", "a", "b", "show", "layer"].some((name) => name in change);
    if (needsLoad) void this.load();
    else this.tell();
  }

  private forget(): void {
    this.lensNow = this.answerNow = null;
  }

  private remember(): void {
    if (!this.place.linked) return;
    const hash = toHash(this.state, this.start);
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

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  matrix(of: Attribution, k: number): Promise<Grid> {
    const packed = of.values[k]!;
    let grid = this.unpacked.get(packed);
    if (!grid) this.unpacked.set(packed, (grid = unpack(packed, of.signed)));
    return grid;
  }

  /** The matrix that is shown first: the last, but for relevance that of the input. */
  firstLayer(of: Attribution): number {
    return of.by_layer?.[0] === -1 ? 0 : of.values.length - 1;
  }

  layerOf(of: Attribution): number {
    const { layer } = this.state;
    return layer < 0 ? this.firstLayer(of) : Math.min(layer, of.values.length - 1);
  }

  setLayer(layer: number): void {
    this.update({ layer: layer === this.firstLayer(this.one) ? -1 : layer });
  }

  /** Unpacks what the view needs; tells the views when it is there. */
  async load(): Promise<void> {
    const ticket = ++this.loading;
    this.rolled = null;
    if (!this.shows) return this.tell();
    const first = this.panel(this.state.a)!;
    const second = this.comparison && this.panel(this.state.b);
    const [a, b] = await Promise.all([
      this.matrix(first, this.layerOf(first)),
      second && this.matrix(second, this.layerOf(second)),
    ]);
    if (ticket !== this.loading) return;
    this.grids = { shown: b && this.state.show === "b" ? b : a, a, b };
    this.forget();
    this.tell();
  }

  setRolled(values: Float32Array | null): void {
    const grid = this.grids?.shown;
    this.rolled = values && grid ? new FloatGrid(grid.rows, grid.columns, values) : null;
    this.forget();
    this.tell();
  }

  private hiddenOf(tokens: Tokens, isInput: boolean): Uint8Array {
    const hidden = new Uint8Array(tokens.labels.length);
    if (!this.state.hide) return hidden;
    const list = isInput && this.one.left_out ? this.one.left_out : tokens.special;
    for (const t of list) hidden[t] = 1;
    return hidden;
  }

  private readonly unitCache = new Map<Tokens, Map<string, Units>>();
  units(tokens: Tokens): Units {
    let known = this.unitCache.get(tokens);
    if (!known) this.unitCache.set(tokens, (known = new Map()));
    const kind = this.one.image ? "token" : this.state.unit;
    let units = known.get(kind);
    if (!units) known.set(kind, (units = unitsOf(tokens, kind)));
    return units;
  }

  side(isInput: boolean): Side {
    const tokens = isInput ? this.one.inputs : this.outputs;
    return { units: this.units(tokens), hidden: this.hiddenOf(tokens, isInput || !this.twoTexts) };
  }

  get lens(): Lens {
    if (this.lensNow) return this.lensNow;
    const { one } = this;
    return (this.lensNow = new Lens({
      grid: this.rolled ?? this.grids!.shown,
      minus: this.difference ? this.grids!.b! : undefined,
      inputs: this.side(true),
      outputs: this.side(false),
      rowTokens: one.mean ? [-1] : one.rows,
      columnTokens: one.columns ?? null,
      renormalise: this.state.hide && this.state.renormalise && !this.one.signed,
    }));
  }

  /** A and B of a comparison, whichever of them the other views show. */
  get bothLenses(): [Lens, Lens] | null {
    const { a, b } = this.grids ?? {};
    const of = (grid: Grid) => new Lens({ ...this.lens.how, grid, minus: undefined });
    return a && b ? [of(a), of(b)] : null;
  }

  private defaultUnit(): number {
    const { lens, one } = this;
    if (one.mean) return -1;
    const unit = this.units(this.outputs).of[one.rows[one.shown] ?? one.rows[0]!]!;
    return lens.rowOfUnit(unit) !== undefined ? unit : (lens.rowUnits[0] ?? -1);
  }

  /** What is asked if the pointer is nowhere. */
  private pinnedQuestion(): Question {
    const { ask, pinned } = this.state;
    const tokens = ask === "from" ? this.outputs : this.one.inputs;
    const { of } = this.units(tokens);
    const side = this.side(ask === "to");
    const units = new Set<number>();
    for (const t of pinned) {
      if (t < 0 || t >= of.length || side.hidden[t]) continue;
      const unit = of[t]!;
      if (ask === "to" || this.lens.rowOfUnit(unit) !== undefined) units.add(unit);
    }
    if (units.size) return { ask, units: [...units] };
    if (ask === "from") return { ask, units: [this.defaultUnit()] };
    const row = this.valuesOf({ ask: "from", units: [this.defaultUnit()] });
    let best = 0;
    row.forEach((value, k) => (best = value > row[best]! || Number.isNaN(row[best]!) ? k : best));
    return { ask, units: [best] };
  }

  get isPinned(): boolean {
    return this.state.pinned.length > 0;
  }

  valuesOf(question: Question, lens = this.lens): Float32Array {
    if (question.ask === "from") {
      const out = new Float32Array(lens.columns);
      if (this.one.columns) {
        const { of } = this.units(this.one.inputs);
        out.fill(NaN);
        for (const t of this.one.columns) out[of[t]!] = 0;
      }
      for (const unit of question.units) {
        const r = lens.rowOfUnit(unit);
        if (r !== undefined) lens.addRow(r, out);
      }
      return out;
    }
    const column = lens.column(question.units);
    const out = new Float32Array(lens.how.outputs.units.tokens.length).fill(NaN);
    lens.rowUnits.forEach((unit, r) => {
      if (unit >= 0) out[unit] = column[r]!;
    });
    return out;
  }

  get answer(): Answer {
    if (this.answerNow) return this.answerNow;
    const question = this.hovered ?? this.pinnedQuestion();
    const values = this.valuesOf(question);
    // The patches of an image have all of the colours: [CLS] is often larger than any of them.
    const from = question.ask === "from" ? (this.one.image?.prefix ?? 0) : 0;
    const shade = shadeFor(
      this.state.scale,
      values.slice(from).filter((value) => !Number.isNaN(value)),
    );
    return (this.answerNow = { question, values, shade, hovering: this.hovered !== null });
  }

  /** Whether a unit of a side can be asked about. */
  canAsk(ask: "from" | "to", unit: number): boolean {
    if (ask === "from") return this.lens.rowOfUnit(unit) !== undefined;
    return true;
  }

  hover(question: Question | null, cell: { row: number; column: number } | null = null): void {
    const same =
      question?.ask === this.hovered?.ask && String(question?.units) === String(this.hovered?.units);
    const sameCell = cell?.row === this.cell?.row && cell?.column === this.cell?.column;
    if (same && sameCell) return;
    this.hovered = question;
    this.cell = cell;
    if (!same) this.answerNow = null;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (!this.grids) return;
      for (const listener of this.hoverListeners) listener();
    });
  }

  /** Pins the tokens of a unit, alone or in addition; a pinned one comes off. */
  pin(ask: "from" | "to", unit: number, add: boolean): void {
    const tokens = ask === "from" ? this.outputs : this.one.inputs;
    const own = this.units(tokens).tokens[unit];
    if (!own || !this.canAsk(ask, unit)) return;
    const { pinned } = this.state;
    const there = this.state.ask === ask && own.every((t) => pinned.includes(t));
    let next: number[];
    if (add && this.state.ask === ask)
      next = there ? pinned.filter((t) => !own.includes(t)) : [...new Set([...pinned, ...own])];
    else next = there && pinned.length === own.length ? [] : own;
    this.update({ ask, pinned: next });
  }

  labelOf(question: Question): string {
    const labels = this.units(question.ask === "from" ? this.outputs : this.one.inputs).labels;
    if (question.units[0] === -1) return "mean of the outputs";
    const names = question.units.slice(0, 4).map((unit) => `\u201c${labels[unit]}\u201d`);
    const more = question.units.length - names.length;
    return names.join(" + ") + (more > 0 ? ` + ${more} more` : "");
  }
}
