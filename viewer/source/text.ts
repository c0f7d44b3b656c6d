// The text, shaded. Spans hold the words and never change; a canvas below them holds the colours, because
// thousands of spans cannot change colour within a frame.
import type { Tokens } from "./contract";
import { LONG } from "./controls";
import { ink, made, on, onResize, penOn, say } from "./draw";
import type { Session } from "./session";
import { parts } from "./parts";
import { written } from "./scale";
import { hideTip, showTip } from "./tip";

interface Box {
  token: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

const MOST_HELD = 12; // chips after a word; some languages have no spaces
const QUIET = 0.1; // a paragraph folds if it has no shade above this

export class TextView {
  readonly root = made("div", "text");
  private readonly scroller = made("div", "scroller");
  private readonly content = made("div", "content");
  private readonly canvas = made("canvas");
  private spans: HTMLElement[] = [];
  private paragraphs: { element: HTMLElement; tokens: number[] }[] = [];
  private boxes = new Map<number, Box[]>(); // of tokens that were in sight
  private visible: number[] | null = null; // tokens that take room
  private flipped = new Set<number>();
  private tokens: Tokens | null = null;
  private shownKey = "";

  constructor(
    private readonly session: Session,
    private readonly isInput: boolean,
    private readonly isOutput: boolean,
    label: string,
  ) {
    const { scroller, content } = this;
    scroller.tabIndex = 0;
    scroller.role = "group";
    say(scroller, `${label}: arrow keys move, Enter pins`);
    const under = made("div", "under");
    under.append(this.canvas);
    scroller.append(under, content);
    this.root.append(scroller);
    onResize(scroller, () => {
      this.forget();
      if (session.grids) this.paint();
    });
    on(scroller, { scroll: () => this.paint(), keydown: (event) => this.key(event) });
    on(content, {
      pointermove: (event) => event.pointerType === "mouse" && this.point(event),
      pointerleave: () => {
        hideTip();
        session.hover(null);
      },
      click: (event) => this.click(event),
    });
  }

  private get ask(): "from" | "to" {
    if (this.isInput && this.isOutput) return this.session.state.ask;
    return this.isOutput ? "from" : "to";
  }

  private tokenAt(event: Event): number | null {
    const span = (event.target as Element).closest?.("[data-t]");
    return span ? Number(span.getAttribute("data-t")) : null;
  }

  /** A pinned question stays; the pointer then reads its values. Otherwise the pointer asks. */
  private point(event: PointerEvent): void {
    const token = this.tokenAt(event);
    if (token === null) {
      hideTip();
      return this.session.hover(null);
    }
    const unit = this.session.units(this.tokens!).of[token]!;
    if (this.session.isPinned) return this.tell(event, unit);
    this.session.hover(this.session.canAsk(this.ask, unit) ? { ask: this.ask, units: [unit] } : null);
  }

  private tell(event: PointerEvent, unit: number): void {
    const { session } = this;
    const { question, values } = session.answer;
    const answers = question.ask === "from" ? this.isInput : this.isOutput;
    const value = values[unit]!;
    if (!answers || Number.isNaN(value)) return hideTip();
    const label = session.units(this.tokens!).labels[unit]!;
    const from = question.ask === "from";
    const [above, below] = from ? [session.labelOf(question), label] : [label, session.labelOf(question)];
    showTip(event.clientX, event.clientY, [
      written(value, session.lens.exact),
      `${from ? above : `\u201c${above}\u201d`} from ${from ? `\u201c${below}\u201d` : below}`,
    ]);
  }

  private click(event: MouseEvent): void {
    const target = event.target as Element;
    const fold = target.closest?.("[data-fold]");
    if (fold) {
      this.paragraphs[Number(fold.getAttribute("data-fold"))]!.element.classList.remove("folded");
      fold.remove();
      this.forget();
      return this.paint();
    }
    const token = this.tokenAt(event);
    if (token === null) return;
    this.session.pin(this.ask, this.session.units(this.tokens!).of[token]!, event.shiftKey);
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e9, End: 1e9 }[event.key];
    const { session, ask } = this;
    const { question } = session.answer;
    const at = question.ask === ask ? question.units[question.units.length - 1]! : 0;
    if (event.key === "Enter") {
      event.preventDefault();
      return session.pin(ask, at, event.shiftKey);
    }
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const units = session.units(this.tokens!);
    const hidden = session.side(ask === "to").hidden;
    const can = units.tokens
      .map((_, k) => k)
      .filter((k) => session.canAsk(ask, k) && !hidden[units.tokens[k]![0]!]);
    const place = Math.max(0, can.indexOf(at));
    const next = can[Math.min(can.length - 1, Math.max(0, place + step))];
    if (next === undefined) return;
    session.hover({ ask, units: [next] });
    this.reveal(units.tokens[next]![0]!);
  }

  reveal(token: number): void {
    this.spans[token]?.scrollIntoView({ block: "nearest" });
  }

  /** Makes the spans; called when the tokens or what is hidden changed. */
  private build(tokens: Tokens): void {
    this.tokens = tokens;
    this.content.replaceChildren();
    this.spans = [];
    this.paragraphs = [];
    this.forget();
    this.flipped.clear();
    const hidden = this.session.side(this.isInput).hidden;
    const special = new Set(tokens.special);
    let paragraph = this.newParagraph();
    // Tokens without letters of their own come after the word that they are part of, which stays whole.
    let held: HTMLElement[] = [];
    const release = () => {
      paragraph.element.append(...held);
      held = [];
    };
    tokens.labels.forEach((label, t) => {
      const before = tokens.before[t]!;
      const text = tokens.text[t]!;
      const lines = before.includes("\n") || (t > 0 && tokens.text[t - 1]!.endsWith("\n"));
      if (lines && paragraph.tokens.length) {
        release();
        paragraph = this.newParagraph();
      }
      // The space that some vocabularies put into a token stays outside of its colour.
      const inner = text.trimStart() === "" ? text : text.trimStart();
      const gap =
        before.replace(/\n/g, "") + text.slice(0, text.length - inner.length).replace(/\n/g, "\u23ce");
      if (gap || special.has(t) || held.length > MOST_HELD) release();
      if (gap) paragraph.element.append(gap);
      const span = made("span");
      span.dataset["t"] = String(t);
      if (special.has(t) || text === "") {
        span.className = "chip";
        span.dir = "auto"; // no part of the text, and so of the direction of it
        span.textContent = label || "\u2400";
      } else {
        span.textContent = inner.replace(/\n/g, "\u23ce");
      }
      // Patches are seen as an image beside the text.
      if (hidden[t] || (parts.patches && /^<(image|video) \d+: .*\d>$/.test(label))) span.hidden = true;
      if (text === "" && !special.has(t)) held.push(span);
      else paragraph.element.append(span);
      paragraph.tokens.push(t);
      this.spans.push(span);
    });
    release();
  }

  private newParagraph() {
    const element = made("p");
    element.dir = "auto";
    const paragraph = { element, tokens: [] as number[] };
    this.content.append(element);
    this.paragraphs.push(paragraph);
    return paragraph;
  }

  private fold(): void {
    const { session } = this;
    for (const old of this.content.querySelectorAll("[data-fold]")) old.remove();
    const { answer } = session;
    const answers = answer.question.ask === "from" ? this.isInput : this.isOutput;
    const units = session.units(this.tokens!);
    this.paragraphs.forEach(({ element, tokens }, k) => {
      const quiet =
        session.state.fold &&
        answers &&
        tokens.length >= LONG &&
        tokens.every((t) => !(Math.abs(answer.shade.of(answer.values[units.of[t]!]!)) > QUIET));
      element.classList.toggle("folded", quiet);
      if (!quiet) return;
      const button = made("button", "fold", `\u2026 ${tokens.length} quiet tokens`);
      button.dataset["fold"] = String(k);
      element.before(button);
    });
    this.forget();
  }

  private forget(): void {
    this.boxes.clear();
    this.visible = null;
  }

  private boxesOf(token: number, origin: DOMRect): Box[] {
    let boxes = this.boxes.get(token);
    if (!boxes) {
      boxes = [...this.spans[token]!.getClientRects()].map(({ left, top, width, height }) => ({
        token,
        x: left - origin.left,
        y: top - origin.top,
        width,
        height,
      }));
      this.boxes.set(token, boxes);
    }
    return boxes;
  }

  /** The boxes of the tokens between two heights of the content: thousands of others need not be measured. */
  private measure(origin: DOMRect, top: number, bottom: number): Box[] {
    this.visible ??= this.paragraphs.flatMap(({ element, tokens }) =>
      element.classList.contains("folded") ? [] : tokens.filter((t) => !this.spans[t]!.hidden),
    );
    const { visible } = this;
    let low = 0;
    let high = visible.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.boxesOf(visible[middle]!, origin).at(-1)?.y ?? 0) < top) low = middle + 1;
      else high = middle;
    }
    const out: Box[] = [];
    for (; low < visible.length; low++) {
      const boxes = this.boxesOf(visible[low]!, origin);
      if (boxes[0] && boxes[0].y > bottom) break;
      out.push(...boxes);
    }
    return out;
  }

  /** Makes what needs no values, while these are being unpacked. */
  prepare(): void {
    const { session } = this;
    const tokens = this.isInput ? session.one.inputs : session.outputs;
    const key = `${session.state.item} ${session.state.hide} ${session.one.label}`;
    if (tokens !== this.tokens || key !== this.shownKey) {
      this.shownKey = key;
      this.build(tokens);
    }
  }

  render(): void {
    this.prepare();
    const { session } = this;
    this.fold();
    this.paint();
    const { question } = session.answer;
    if (session.isPinned && question.ask === this.ask) {
      const first = session.units(this.tokens!).tokens[question.units[0]!]?.[0];
      if (first !== undefined && this.root.isConnected) this.nearest(first);
    }
  }

  /** Scrolls inside the view only: the page itself stays where it is. */
  nearest(token: number): void {
    const span = this.spans[token];
    if (!span || span.hidden) return;
    const box = span.getBoundingClientRect();
    const frame = this.scroller.getBoundingClientRect();
    if (box.top < frame.top) this.scroller.scrollTop -= frame.top - box.top + 24;
    else if (box.bottom > frame.bottom) this.scroller.scrollTop += box.bottom - frame.bottom + 24;
  }

  paint(): void {
    const { session, canvas } = this;
    if (!session.grids || !this.tokens) return;
    const height = this.scroller.clientHeight;
    const pen = penOn(canvas, this.scroller.clientWidth, height);
    const { question, values, shade } = session.answer;
    const { palette } = session;
    const units = session.units(this.tokens);
    const answers = question.ask === "from" ? this.isInput : this.isOutput;
    const asked = new Set((question.ask === "from" ? this.isOutput : this.isInput) ? question.units : []);
    const frame = this.scroller.getBoundingClientRect();
    const origin = this.content.getBoundingClientRect();
    const dx = origin.left - frame.left - this.scroller.clientLeft;
    const dy = origin.top - frame.top - this.scroller.clientTop;
    const flip = new Set<number>();
    const [accent, line, soft] = [ink("accent"), ink("line"), ink("soft")];
    const boxes = this.measure(origin, -dy - 120, height - dy + 40);
    const found = session.state.search.toLowerCase();
    for (let k = 0; k < boxes.length; k++) {
      const box = boxes[k]!;
      const y = box.y + dy;
      if (y + box.height < -40 || y > height + 40) continue;
      const unit = units.of[box.token]!;
      let { x, width: wide } = box;
      const next = boxes[k + 1];
      // The space between two tokens of a unit has their colour.
      if (next && next.token !== box.token && units.of[next.token] === unit && next.y === box.y) {
        const end = Math.max(x + wide, next.x);
        x = Math.min(x, next.x + next.width);
        wide = end - x;
      }
      const value = answers ? values[unit]! : 0;
      const size = Number.isNaN(value) ? 0 : shade.of(value);
      if (size !== 0) {
        pen.fillStyle = palette.css(size);
        pen.beginPath();
        pen.roundRect(x + dx - 0.5, y - 1, wide + 1, box.height + 2, 3);
        pen.fill();
        if (palette.flips(size)) flip.add(box.token);
      }
      if (asked.has(unit)) {
        pen.strokeStyle = accent;
        pen.lineWidth = 2;
        pen.beginPath();
        pen.roundRect(box.x + dx - 1.5, y - 2, box.width + 3, box.height + 4, 4);
        pen.stroke();
      }
      if (found && this.tokens.labels[box.token]!.toLowerCase().includes(found)) {
        pen.fillStyle = accent;
        pen.fillRect(box.x + dx, y + box.height + 1, box.width, 2);
      }
      if (session.twoTexts && !session.signed && this.isOutput && !this.isInput) {
        const r = session.lens.rowOfUnit(unit);
        if (r !== undefined) {
          pen.fillStyle = line;
          pen.fillRect(box.x + dx, y + box.height + 2, box.width, 3);
          pen.fillStyle = soft;
          pen.fillRect(box.x + dx, y + box.height + 2, box.width * Math.min(1, this.massOf(r)), 3);
        }
      }
    }
    for (const token of this.flipped) if (!flip.has(token)) this.spans[token]?.classList.remove("flip");
    for (const token of flip) if (!this.flipped.has(token)) this.spans[token]?.classList.add("flip");
    this.flipped = flip;
  }

  private masses: { lens: unknown; values: Map<number, number> } = { lens: null, values: new Map() };
  private massOf(r: number): number {
    const { lens } = this.session;
    if (this.masses.lens !== lens) this.masses = { lens, values: new Map() };
    let mass = this.masses.values.get(r);
    if (mass === undefined) this.masses.values.set(r, (mass = lens.mass(r)));
    return mass;
  }

  /** Rectangles and words as they are on the screen, for a picture. */
  picture(): { width: number; height: number; boxes: (Box & { text: string; fill: string; ink: string })[] } {
    const rect = this.content.getBoundingClientRect();
    const { answer, palette } = this.session;
    const units = this.session.units(this.tokens!);
    const answers = answer.question.ask === "from" ? this.isInput : this.isOutput;
    const [own, other] = [ink("ink"), ink("paper")];
    const boxes = this.measure(rect, -1, rect.height).map((box) => {
      const value = answers ? answer.values[units.of[box.token]!]! : 0;
      const size = Number.isNaN(value) ? 0 : answer.shade.of(value);
      return {
        ...box,
        text: this.spans[box.token]!.textContent!,
        fill: size === 0 ? "none" : palette.css(size),
        ink: palette.flips(size) ? other : own,
      };
    });
    return { width: rect.width, height: rect.height, boxes };
  }
}
