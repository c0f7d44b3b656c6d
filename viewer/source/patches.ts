// The images of a prompt that has text as well: no picture is there, but the places of its patches are.
import type { Tokens } from "./contract";
import { made, on, onResize, outline, penOn, say } from "./draw";
import { clamp, floor, max, min } from "./numbers";
import { PATCH } from "./patch_names";
import { written } from "./scale";
import type { Session } from "./session";
import { hideTip, leave, showTip } from "./tip";

interface Picture {
  name: string; // "image 0", or "video 0: 3" for a frame
  rows: number;
  columns: number;
  token: number[]; // of each patch, row by row; -1: none
}

export function picturesOf({ labels }: Tokens): Picture[] {
  const found = new Map<string, { row: number; column: number; token: number }[]>();
  labels.forEach((label, token) => {
    const match = PATCH.exec(label);
    if (!match) return;
    const name = match[1]!.replace(/[:, ]+$/, "");
    if (!found.has(name)) found.set(name, []);
    found.get(name)!.push({ row: +match[2]!, column: +match[3]!, token });
  });
  return [...found].map(([name, places]) => {
    const rows = 1 + max(...places.map(({ row }) => row));
    const columns = 1 + max(...places.map(({ column }) => column));
    const token = new Array<number>(rows * columns).fill(-1);
    for (const place of places) token[place.row * columns + place.column] = place.token;
    return { name, rows, columns, token };
  });
}

/** All images of the inputs, each as a grid in the colours of the text; null if there are none. */
export function patchesView(session: Session) {
  if (!picturesOf(session.one.inputs).length) return null;
  const root = made("div", "chips patches");
  let grids: { picture: Picture; canvas: HTMLCanvasElement }[] = [];
  let of: Tokens | null = null;

  const render = () => {
    const { inputs } = session.one;
    if (inputs !== of) {
      of = inputs;
      grids = picturesOf(inputs).map((picture) => ({ picture, canvas: canvasOf(picture) }));
      root.replaceChildren(
        ...grids.map(({ picture, canvas }) => {
          const figure = made("figure");
          figure.append(canvas, made("figcaption", "soft", picture.name));
          return figure;
        }),
      );
    }
    paint();
  };
  const canvasOf = ({ name, rows, columns, token }: Picture): HTMLCanvasElement => {
    const canvas = made("canvas");
    canvas.role = "img";
    say(canvas, `${name}, ${rows} by ${columns} patches; the ranking lists them`);
    const unitAt = ({ offsetX, offsetY }: MouseEvent) => {
      const row = floor((offsetY / canvas.clientHeight) * rows);
      const column = floor((offsetX / canvas.clientWidth) * columns);
      return session.inputUnits.of[token[row * columns + column] ?? -1] ?? -1;
    };
    // With two texts, the images are among what outputs come from.
    const ask = () => (session.twoTexts ? "to" : session.state.ask);
    on(canvas, {
      pointermove: (event) => {
        const unit = unitAt(event);
        if (unit < 0) return hideTip();
        session.point(ask(), unit);
        const { from, amounts: values } = session.answer;
        const label = session.inputUnits.names[unit]!;
        const value = from || !session.twoTexts ? values[unit]! : NaN;
        showTip(event, isNaN(value) ? [label] : [written(value, session.lens.exact), label]);
      },
      pointerleave: () => leave(session),
      click: (event) => unitAt(event) >= 0 && session.pin(ask(), unitAt(event), event.shiftKey),
    });
    return canvas;
  };
  const paint = () => {
    if (!session.grids) return;
    const { asked: question, from, amounts: values, shade } = session.answer;
    const { of } = session.inputUnits;
    const answers = from || !session.twoTexts;
    for (const { picture, canvas } of grids) {
      const { rows, columns, token } = picture;
      const cell = clamp(min(360, root.clientWidth || 360) / columns, 6, 24);
      const pen = penOn(canvas, cell * columns, cell * rows);
      token.forEach((t, k) => {
        if (t < 0) return;
        const [x, y] = [(k % columns) * cell, floor(k / columns) * cell];
        const value = answers ? values[of[t]!]! : 0;
        pen.fillStyle = session.palette.css(isNaN(value) ? 0 : shade.of(value));
        pen.fillRect(x, y, cell, cell);
        const asked = (!from || !session.twoTexts) && question.units.includes(of[t]!);
        outline(pen, asked ? "--accent" : "--line", asked ? 2 : 0.5, x + 0.5, y + 0.5, cell - 1, cell - 1);
      });
    }
  };

  onResize(root, paint);
  return { root, render, paint };
}
