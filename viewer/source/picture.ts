// An image with the values of its patches over it.
import { ink, made, on, onResize, outline, penOn, say } from "./draw";
import { abs, clamp, floor, min } from "./numbers";
import { written } from "./scale";
import type { Session } from "./session";
import { hideTip, leave, showTip } from "./tip";

export type PictureView = ReturnType<typeof pictureView>;

export function pictureView(session: Session) {
  const root = made("div", "picture");
  const canvas = made("canvas");
  const chips = made("div", "chips");
  let image: HTMLImageElement | null = null;
  let uri = "";

  const tokenAt = ({ offsetX, offsetY }: MouseEvent): number | null => {
    const { seen, rows, columns, prefix, width } = session.one.image!;
    const scale = canvas.clientWidth / width;
    const column = floor(((offsetX / scale - seen[0]) / seen[2]) * columns);
    const row = floor(((offsetY / scale - seen[1]) / seen[3]) * rows);
    if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
    return prefix + row * columns + column;
  };
  const point = (event: PointerEvent) => {
    const token = tokenAt(event);
    if (token === null) return leave(session);
    if (session.lens.high > 1) session.point(session.state.ask, token);
    const { amounts: values, asked: question } = session.answer;
    if (isNaN(values[token]!)) return hideTip();
    showTip(event, [
      written(values[token]!, session.lens.exact),
      `patch ${session.one.inputs.labels[token]} ${session.state.ask === "from" ? "in" : "uses"} ${session.labelOf(question)}`,
    ]);
  };
  const key = (event: KeyboardEvent) => {
    const { columns, rows, prefix } = session.one.image!;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    const { ask } = session.state;
    const at = session.hovered?.units[0] ?? prefix;
    const next = clamp(at + (step ?? 0), prefix, prefix + rows * columns - 1);
    if (event.key === "Enter") session.pin(ask, at, event.shiftKey);
    else if (!step) return;
    else if (session.canAsk(ask, next)) session.hover({ ask, units: [next] });
    event.preventDefault();
  };

  const render = () => {
    const { one, state } = session;
    const picture = one.image!;
    const { ask: side } = state;
    const { unseen } = session.side(true);
    say(canvas, `The image, ${picture.rows} by ${picture.columns} patches: arrow keys move, Enter pins`);
    if (uri !== picture.uri) {
      uri = picture.uri;
      image = new Image();
      image.onload = paint;
      image.src = uri;
    }
    chips.replaceChildren(
      ...one.inputs.labels.slice(0, picture.prefix).flatMap((name, t) => {
        if (unseen[t]) return [];
        const chip = made("button", "chip", name);
        chip.disabled = !session.canAsk(side, t);
        chip.onclick = (event) => session.pin(side, t, event.shiftKey);
        chip.onpointerenter = () => session.point(side, t);
        chip.onpointerleave = () => session.hover(null);
        return [chip];
      }),
    );
    paint();
  };
  const paint = () => {
    const picture = session.one.image;
    if (!session.grids || !picture || !image?.complete) return;
    const { one, answer, state, overlayPalette: palette } = session;
    const wide = min(root.clientWidth, 720);
    const high = (wide * picture.height) / picture.width;
    const pen = penOn(canvas, wide, high);
    pen.imageSmoothingEnabled = image.naturalWidth > wide;
    pen.drawImage(image, 0, 0, wide, high);
    const scale = wide / picture.width;
    const [x, y, width, height] = picture.seen.map((one) => one * scale) as [number, number, number, number];
    const patchWidth = width / picture.columns;
    const patchHeight = height / picture.rows;
    // What the model did not see is dimmed.
    pen.fillStyle = ink("--paper");
    pen.globalAlpha = 0.65;
    pen.beginPath();
    pen.rect(0, 0, wide, high);
    pen.rect(x + width, y, -width, height);
    pen.fill("evenodd");
    const asked = new Set(answer.asked.units);
    const marked: [number, number][] = [];
    for (let row = 0; row < picture.rows; row++)
      for (let column = 0; column < picture.columns; column++) {
        const token = picture.prefix + row * picture.columns + column;
        const value = answer.amounts[token]!;
        const left = x + column * patchWidth;
        const top = y + row * patchHeight;
        if (!isNaN(value)) {
          const size = answer.shade.of(value);
          pen.globalAlpha = state.opacity * min(1, 2 * abs(size));
          pen.fillStyle = palette.css(size);
          pen.fillRect(left, top, patchWidth + 0.5, patchHeight + 0.5);
        }
        if (asked.has(token)) marked.push([left, top]);
      }
    pen.globalAlpha = 1;
    for (const [left, top] of marked) outline(pen, "--accent", 3, left, top, patchWidth, patchHeight);
    for (const chip of chips.children)
      chip.classList.toggle("asked", asked.has(one.inputs.labels.indexOf(chip.textContent!)));
  };

  canvas.tabIndex = 0;
  canvas.role = "img";
  root.append(chips, canvas);
  onResize(root, paint);
  on(canvas, {
    pointermove: point,
    pointerleave: () => leave(session),
    click: (event) => {
      const token = tokenAt(event);
      if (token !== null) session.pin(session.state.ask, token, event.shiftKey);
    },
    keydown: key,
  });
  return { root, canvas, render, paint };
}
