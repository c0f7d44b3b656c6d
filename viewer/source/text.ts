// The text, shaded. Spans hold the words and never change; a canvas below them holds the colours, because
// thousands of spans cannot change colour within a frame.
import type { Tokens } from "./contract";
import { LONG } from "./controls";
import { ink, made, on, onResize, penOn, placed, say } from "./draw";
import { upTo } from "./arrays";
import { abs, clamp, max, min, placeAfter, round } from "./numbers";
import type { Session } from "./session";
import { parts } from "./parts";
import { PATCH } from "./patch_names";
import { written } from "./scale";
import { hideTip, leave, showTip } from "./tip";
import { NOTHING } from "./units";

interface Box {
  token: number;
  x: number;
  y: number;
  wide: number;
  high: number;
}

interface Paragraph {
  element: HTMLElement;
  tokens: number[];
}

const MOST_HELD = 12; // chips after a word; some languages have no spaces
const QUIET = 0.1; // a paragraph folds if it has no shade above this
const AROUND = 40; // pixels above and below what is seen that are painted as well

export type TextView = ReturnType<typeof textView>;

export function textView(session: Session, isInput: boolean, isOutput: boolean, label: string) {
  const root = made("div", "text");
  const scroller = made("div", "scroller");
  const content = made("div", "content");
  const under = made("div", "under");
  const canvas = made("canvas");
  const boxes = new Map<number, Box[]>(); // of tokens that were in sight
  let spans: HTMLElement[] = [];
  let paragraphs: Paragraph[] = [];
  let visible: number[] | null = null; // tokens that take room
  let flipped = new Set<number>();
  let tokens: Tokens | null = null;
  let shownKey = "";
  let isPlaced = false; // at what is asked about, which may be the end of a long text

  const units = () => session.units(tokens!);
  const askNow = () => (isInput && isOutput ? session.state.ask : isOutput ? "from" : "to");
  /** Whether the tokens of this text have values of the answer. */
  const answers = () => (session.answer.from ? isInput : isOutput);
  const attribute = (event: Event, name: string) => {
    const found = (event.target as Element).closest<HTMLElement>(`[data-${name}]`);
    return found && { found, value: +found.dataset[name]! };
  };

  /** A pinned question stays; the pointer then reads its values. Otherwise the pointer asks. */
  const point = (event: PointerEvent) => {
    const at = attribute(event, "t");
    if (!at) return leave(session);
    const unit = units().of[at.value]!;
    if (!session.isPinned) return session.point(askNow(), unit);
    const { asked: question, amounts: values, from } = session.answer;
    const value = values[unit]!;
    if (!answers() || isNaN(value)) return hideTip();
    const label = `\u201c${units().names[unit]}\u201d`;
    const asked = session.labelOf(question);
    showTip(event, [
      written(value, session.lens.exact),
      from ? `${asked} from ${label}` : `${label} from ${asked}`,
    ]);
  };
  const click = (event: MouseEvent) => {
    const fold = attribute(event, "fold");
    const at = attribute(event, "t");
    if (fold) {
      paragraphs[fold.value]!.element.classList.remove("folded");
      fold.found.remove();
      forget();
      paint();
    } else if (at) session.pin(askNow(), units().of[at.value]!, event.shiftKey);
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e9, End: 1e9 }[event.key];
    const ask = askNow();
    const { asked: question } = session.answer;
    const at = question.ask === ask ? question.units.at(-1)! : 0;
    if (event.key === "Enter") session.pin(ask, at, event.shiftKey);
    else if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    else {
      const all = units().members;
      const { unseen } = session.side(ask === "to");
      const can = upTo(all.length).filter((k) => session.canAsk(ask, k) && !unseen[all[k]![0]!]);
      const next = can[clamp(max(0, can.indexOf(at)) + step, 0, can.length - 1)];
      if (next !== undefined) {
        session.hover({ ask, units: [next] });
        spans[all[next]![0]!]?.scrollIntoView({ block: "nearest" });
      }
    }
    event.preventDefault();
  };

  const newParagraph = () => {
    const element = made("p");
    element.dir = "auto";
    const paragraph: Paragraph = { element, tokens: [] };
    content.append(element);
    paragraphs.push(paragraph);
    return paragraph;
  };
  /** Makes the spans; called when the tokens or what is hidden changed. */
  const build = ({ labels, before, text, special }: Tokens) => {
    content.replaceChildren();
    spans = [];
    paragraphs = [];
    forget();
    flipped.clear();
    const { unseen } = session.side(isInput);
    let paragraph = newParagraph();
    // Tokens without letters of their own come after the word that they are part of, which stays whole.
    let held: HTMLElement[] = [];
    const release = () => {
      paragraph.element.append(...held);
      held = [];
    };
    const marked = (text: string) => text.replace(/\n/g, "\u23ce");
    labels.forEach((label, t) => {
      const own = text[t]!;
      const alone = special.includes(t);
      const lines = before[t]!.includes("\n") || text[t - 1]?.endsWith("\n");
      if (lines && paragraph.tokens.length) {
        release();
        paragraph = newParagraph();
      }
      // The space that some vocabularies put into a token stays outside of its colour.
      const inner = own.trimStart() || own;
      const gap = before[t]!.replace(/\n/g, "") + marked(own.slice(0, own.length - inner.length));
      if (gap || alone || held.length > MOST_HELD) release();
      if (gap) paragraph.element.append(gap);
      const isChip = alone || !own;
      const span = made("span", isChip ? "chip" : "", isChip ? label || NOTHING : marked(inner));
      span.dataset["t"] = `${t}`;
      if (isChip) span.dir = "auto"; // no part of the text, and so of the direction of it
      // Patches are seen as an image beside the text.
      if (unseen[t] || (parts.patches && PATCH.test(label))) span.hidden = true;
      if (isChip && !alone) held.push(span);
      else paragraph.element.append(span);
      paragraph.tokens.push(t);
      spans.push(span);
    });
    release();
  };
  const fold = () => {
    for (const old of content.querySelectorAll("[data-fold]")) old.remove();
    const { shade, amounts: values } = session.answer;
    const { of } = units();
    paragraphs.forEach(({ element, tokens }, k) => {
      const quiet =
        session.state.fold &&
        answers() &&
        tokens.length >= LONG &&
        !tokens.some((t) => abs(shade.of(values[of[t]!]!)) > QUIET);
      element.classList.toggle("folded", quiet);
      if (!quiet) return;
      const button = made("button", "fold", `\u2026 ${tokens.length} quiet tokens`);
      button.dataset["fold"] = `${k}`;
      element.before(button);
    });
    forget();
  };

  const forget = () => {
    boxes.clear();
    visible = null;
  };
  const boxesOf = (token: number, origin: DOMRect): Box[] => {
    let found = boxes.get(token);
    if (!found) {
      found = [...spans[token]!.getClientRects()].map(({ left, top, width, height }) => ({
        token,
        x: left - origin.left,
        y: top - origin.top,
        wide: width,
        high: height,
      }));
      boxes.set(token, found);
    }
    return found;
  };
  /** The boxes of the tokens between two heights of the content: thousands of others need not be measured. */
  const measure = (origin: DOMRect, top: number, bottom: number): Box[] => {
    visible ??= paragraphs.flatMap(({ element, tokens }) =>
      element.classList.contains("folded") ? [] : tokens.filter((t) => !spans[t]!.hidden),
    );
    const seen = visible;
    let at = placeAfter(seen.length, (k) => (boxesOf(seen[k]!, origin).at(-1)?.y ?? 0) < top);
    const out: Box[] = [];
    for (; at < seen.length; at++) {
      const found = boxesOf(seen[at]!, origin);
      if (found[0] && found[0].y > bottom) break;
      out.push(...found);
    }
    return out;
  };

  /** Makes what needs no values, while these are being unpacked. */
  const prepare = () => {
    const { one, outputTokens, state } = session;
    const shown = isInput ? one.inputs : outputTokens;
    const key = `${state.item} ${state.hide} ${one.label}`;
    if (shown === tokens && key === shownKey) return;
    shownKey = key;
    tokens = shown;
    build(shown);
  };
  const render = () => {
    prepare();
    fold();
    paint();
    const { asked: question } = session.answer;
    const first = units().members[question.units[0]!]?.[0];
    if (!root.isConnected || question.ask !== askNow()) return;
    if ((session.isPinned || !isPlaced) && first !== undefined) nearest(first);
    isPlaced = true;
  };
  /** Scrolls inside the view only: the page itself stays where it is. */
  const nearest = (token: number) => {
    const span = spans[token];
    if (!span || span.hidden) return;
    const box = placed(span);
    const frame = placed(scroller);
    if (box.top < frame.top) scroller.scrollTop -= frame.top - box.top + 24;
    else if (box.bottom > frame.bottom) scroller.scrollTop += box.bottom - frame.bottom + 24;
  };

  const shadeOf = (unit: number) => {
    const { amounts: values, shade } = session.answer;
    return answers() ? shade.of(values[unit]!) || 0 : 0;
  };
  /** The units of this text that are asked about. */
  const asked = () => {
    const { asked: question, from } = session.answer;
    return new Set((from ? isOutput : isInput) ? question.units : []);
  };
  const paint = () => {
    if (!session.grids || !tokens) return;
    const { clientWidth, clientHeight, clientLeft, clientTop } = scroller;
    const pen = penOn(canvas, clientWidth, clientHeight);
    const { palette, lens } = session;
    const { of } = units();
    const marked = asked();
    const shares = session.twoTexts && !session.hasSigns && isOutput && !isInput;
    const frame = placed(scroller);
    const origin = placed(content);
    const dx = origin.left - frame.left - clientLeft;
    const dy = origin.top - frame.top - clientTop;
    const flip = new Set<number>();
    const inks = [ink("--accent"), ink("--line"), ink("--soft")] as const;
    const found = session.state.search.toLowerCase();
    measure(origin, -dy - 3 * AROUND, clientHeight - dy + AROUND).forEach(({ token, ...box }, k, all) => {
      const [left, y] = [box.x + dx, box.y + dy];
      if (y + box.high < -AROUND || y > clientHeight + AROUND) return;
      const rounded = (x: number, width: number, more: number, radius: number) => {
        pen.beginPath();
        pen.roundRect(x - more / 2, y - (more + 1) / 2, width + more, box.high + more + 1, radius);
      };
      const bar = (colour: string, gap: number, width: number, height: number) => {
        pen.fillStyle = colour;
        pen.fillRect(left, y + box.high + gap, width, height);
      };
      const unit = of[token]!;
      const size = shadeOf(unit);
      const row = shares ? lens.rowOfUnit(unit) : undefined;
      if (size) {
        let [start, end] = [left, left + box.wide];
        const next = all[k + 1];
        // The space between two tokens of a unit has their colour.
        if (next && next.token !== token && of[next.token] === unit && next.y === box.y) {
          start = min(start, next.x + next.wide + dx);
          end = max(end, next.x + dx);
        }
        pen.fillStyle = palette.css(size);
        rounded(start, end - start, 1, 3);
        pen.fill();
        if (palette.flips(size)) flip.add(token);
      }
      if (marked.has(unit)) {
        pen.strokeStyle = inks[0];
        pen.lineWidth = 2;
        rounded(left, box.wide, 3, 4);
        pen.stroke();
      }
      if (found && tokens!.labels[token]!.toLowerCase().includes(found)) bar(inks[0], 1, box.wide, 2);
      if (row !== undefined) {
        bar(inks[1], 2, box.wide, 3);
        bar(inks[2], 2, box.wide * min(1, lens.mass(row)), 3);
      }
    });
    for (const token of flipped) if (!flip.has(token)) spans[token]?.classList.remove("flip");
    for (const token of flip) spans[token]!.classList.add("flip");
    flipped = flip;
  };

  /** Rectangles and words as they are on the screen, for a picture. */
  const picture = () => {
    const { palette } = session;
    const { of } = units();
    const origin = placed(content);
    const { width, height } = origin;
    const [own, other] = [ink("--ink"), ink("--flip")];
    const marked = asked();
    let letters: string[] = [];
    let letter = 0; // its width
    const found = measure(origin, -1, height).map((box) => {
      const size = shadeOf(of[box.token]!);
      const places = boxes.get(box.token)!;
      // A token that is broken over two lines has a part of its letters in each.
      if (box === places[0]) {
        letters = [...spans[box.token]!.textContent!];
        letter = places.reduce((sum, { wide }) => sum + wide, 0) / letters.length;
      }
      return {
        ...box,
        text: letters.splice(0, box === places.at(-1) ? letters.length : round(box.wide / letter)).join(""),
        fill: size ? palette.css(size) : "none",
        edge: marked.has(of[box.token]!) ? ink("--accent") : "none",
        ink: palette.flips(size) ? other : own,
      };
    });
    return { wide: width, high: height, boxes: found };
  };

  scroller.tabIndex = 0;
  scroller.role = "group";
  say(scroller, `${label}: arrow keys move, Enter pins`);
  under.append(canvas);
  scroller.append(under, content);
  root.append(scroller);
  onResize(scroller, () => {
    forget();
    paint();
  });
  on(scroller, { scroll: paint, keydown: key });
  on(content, {
    pointermove: (event) => event.pointerType === "mouse" && point(event),
    pointerleave: () => leave(session),
    click,
  });
  return { root, prepare, render, paint, nearest, picture };
}
