// The images of a prompt that has text as well: no picture is there, but the places of its patches are.
import type { Tokens } from "./contract";
import { ink, made, on, onResize, penOn, say } from "./draw";
import { written } from "./scale";
import type { Session } from "./session";
import { hideTip, showTip } from "./tip";

interface Picture {
  name: string; // "image 0", or "video 0: 3" for a frame
  rows: number;
  columns: number;
  token: number[]; // of each patch, row by row; -1: none
}

/** Names such as "<image 0: 3,4>", which a capture gives to patches; in a video the frame comes first. */
export function picturesOf({ labels }: Tokens): Picture[] {
  const found = new Map<string, { row: number; column: number; token: number }[]>();
  labels.forEach((label, token) => {
    const match = /^<((?:image|video) \d+: (?:\d+,)?)(\d+),(\d+)>$/.exec(label);
    if (!match) return;
    const name = match[1]!.replace(/[:, ]+$/, "");
    if (!found.has(name)) found.set(name, []);
    found.get(name)!.push({ row: Number(match[2]), column: Number(match[3]), token });
  });
  return [...found].map(([name, places]) => {
    const rows = 1 + Math.max(...places.map(({ row }) => row));
    const columns = 1 + Math.max(...places.map(({ column }) => column));
    const token = new Array<number>(rows * columns).fill(-1);
    for (const place of places) token[place.row * columns + place.column] = place.token;
    return { name, rows, columns, token };
  });
}

/** All images of the inputs, each as a grid in the colours of the text. */
export class PatchesView {
  readonly root = made("div", "chips patches");
  private grids: { picture: Picture; canvas: HTMLCanvasElement }[] = [];
  private of: Tokens | null = null;

  constructor(private readonly session: Session) {
    onResize(this.root, () => session.grids && this.paint());
  }

  render(): void {
    const { session } = this;
    const { inputs } = session.one;
    if (inputs !== this.of) {
      this.of = inputs;
      this.grids = picturesOf(inputs).map((picture) => ({ picture, canvas: this.canvasOf(picture) }));
      this.root.replaceChildren(
        ...this.grids.map(({ picture, canvas }) => {
          const figure = made("figure");
          figure.style.margin = "0 8px 0 0";
          figure.append(canvas, made("figcaption", "soft", picture.name));
          return figure;
        }),
      );
    }
    this.paint();
  }

  private canvasOf(picture: Picture): HTMLCanvasElement {
    const { session } = this;
    const canvas = made("canvas");
    canvas.role = "img";
    say(canvas, `${picture.name}, ${picture.rows} by ${picture.columns} patches; the ranking lists them`);
    const unitAt = ({ offsetX, offsetY }: MouseEvent) => {
      const row = Math.floor((offsetY / canvas.clientHeight) * picture.rows);
      const column = Math.floor((offsetX / canvas.clientWidth) * picture.columns);
      const token = picture.token[row * picture.columns + column] ?? -1;
      return token < 0 ? -1 : session.units(session.one.inputs).of[token]!;
    };
    // With two texts, the images are among what outputs come from.
    const ask = () => (session.twoTexts ? "to" : session.state.ask);
    on(canvas, {
      pointermove: (event) => {
        const unit = unitAt(event);
        if (unit < 0) return hideTip();
        if (!session.isPinned && session.canAsk(ask(), unit)) session.hover({ ask: ask(), units: [unit] });
        const { question, values } = session.answer;
        const label = session.units(session.one.inputs).labels[unit]!;
        const value = question.ask === "from" || !session.twoTexts ? values[unit]! : NaN;
        showTip(
          event.clientX,
          event.clientY,
          Number.isNaN(value) ? [label] : [written(value, session.lens.exact), label],
        );
      },
      pointerleave: () => {
        hideTip();
        session.hover(null);
      },
      click: (event) => unitAt(event) >= 0 && session.pin(ask(), unitAt(event), event.shiftKey),
    });
    return canvas;
  }

  paint(): void {
    const { session } = this;
    if (!session.grids) return;
    const { question, values, shade } = session.answer;
    const { of } = session.units(session.one.inputs);
    const answers = question.ask === "from" || !session.twoTexts;
    for (const { picture, canvas } of this.grids) {
      const { rows, columns, token } = picture;
      const cell = Math.max(6, Math.min(24, Math.min(360, this.root.clientWidth || 360) / columns));
      const pen = penOn(canvas, cell * columns, cell * rows);
      token.forEach((t, k) => {
        if (t < 0) return;
        const [x, y] = [(k % columns) * cell, Math.floor(k / columns) * cell];
        const value = answers ? values[of[t]!]! : 0;
        pen.fillStyle = session.palette.css(Number.isNaN(value) ? 0 : shade.of(value));
        pen.fillRect(x, y, cell, cell);
        const asked = (question.ask === "to" || !session.twoTexts) && question.units.includes(of[t]!);
        pen.strokeStyle = ink(asked ? "accent" : "line");
        pen.lineWidth = asked ? 2 : 0.5;
        pen.strokeRect(x + 0.5, y + 0.5, cell - 1, cell - 1);
      });
    }
  }
}
