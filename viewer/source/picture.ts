// An image with the values of its patches over it.
import { ink, made, on, onResize, penOn, say } from "./draw";
import type { Session } from "./session";
import { written } from "./scale";
import { hideTip, showTip } from "./tip";

export class PictureView {
  readonly root = made("div", "picture");
  readonly canvas = made("canvas");
  private readonly chips = made("div", "chips");
  private image: HTMLImageElement | null = null;
  private uri = "";

  constructor(private readonly session: Session) {
    this.canvas.tabIndex = 0;
    this.canvas.role = "img";
    this.root.append(this.chips, this.canvas);
    onResize(this.root, () => session.grids && this.paint());
    on(this.canvas, {
      pointermove: (event) => this.point(event),
      pointerleave: () => {
        hideTip();
        session.hover(null);
      },
      click: (event) => {
        const token = this.tokenAt(event.offsetX, event.offsetY);
        if (token !== null) session.pin(session.state.ask, token, event.shiftKey);
      },
      keydown: (event) => this.key(event),
    });
  }

  private get scale(): number {
    return this.canvas.clientWidth / this.session.one.image!.width;
  }

  private tokenAt(x: number, y: number): number | null {
    const { seen, rows, columns, prefix } = this.session.one.image!;
    const column = Math.floor((((x / this.scale - seen[0]) / seen[2]) * columns) as number);
    const row = Math.floor(((y / this.scale - seen[1]) / seen[3]) * rows);
    if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
    return prefix + row * columns + column;
  }

  private point(event: PointerEvent): void {
    const { session } = this;
    const token = this.tokenAt(event.offsetX, event.offsetY);
    const { ask } = session.state;
    if (token === null) {
      hideTip();
      return session.hover(null);
    }
    if (!session.isPinned && session.canAsk(ask, token) && session.lens.rows > 1)
      session.hover({ ask, units: [token] });
    const value = session.answer.values[token]!;
    const label = session.one.inputs.labels[token]!;
    if (Number.isNaN(value)) return hideTip();
    showTip(event.clientX, event.clientY, [
      written(value, session.lens.exact),
      `patch ${label} ${ask === "from" ? "in" : "uses"} ${session.labelOf(session.answer.question)}`,
    ]);
  }

  private key(event: KeyboardEvent): void {
    const { session } = this;
    const { columns, rows, prefix } = session.one.image!;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    const { ask } = session.state;
    const at = session.hovered?.units[0] ?? prefix;
    if (event.key === "Enter") session.pin(ask, at, event.shiftKey);
    else if (step) {
      const next = Math.max(prefix, Math.min(prefix + rows * columns - 1, at + step));
      if (session.canAsk(ask, next)) session.hover({ ask, units: [next] });
    } else return;
    event.preventDefault();
  }

  render(): void {
    const picture = this.session.one.image!;
    const label = `The image, ${picture.rows} by ${picture.columns} patches: arrow keys move, Enter pins`;
    say(this.canvas, label);
    if (this.uri !== picture.uri) {
      this.uri = picture.uri;
      this.image = new Image();
      this.image.onload = () => this.paint();
      this.image.src = picture.uri;
    }
    const { session } = this;
    const { hidden } = session.side(true);
    this.chips.replaceChildren(
      ...session.one.inputs.labels.slice(0, picture.prefix).flatMap((name, t) => {
        if (hidden[t]) return [];
        const chip = made("button", "chip", name);
        const { ask } = session.state;
        chip.disabled = !session.canAsk(ask, t);
        chip.onclick = (event) => session.pin(ask, t, event.shiftKey);
        chip.onpointerenter = () =>
          !session.isPinned && session.canAsk(ask, t) && session.hover({ ask, units: [t] });
        chip.onpointerleave = () => session.hover(null);
        return [chip];
      }),
    );
    this.paint();
  }

  paint(): void {
    const { session, canvas, image } = this;
    const picture = session.one.image;
    if (!session.grids || !picture || !image?.complete) return;
    const wide = Math.min(this.root.clientWidth, 720);
    const high = (wide * picture.height) / picture.width;
    const pen = penOn(canvas, wide, high);
    pen.imageSmoothingEnabled = image.naturalWidth > wide;
    pen.drawImage(image, 0, 0, wide, high);
    const scale = wide / picture.width;
    const [x, y, width, height] = picture.seen.map((one) => one * scale) as [number, number, number, number];
    const { answer, overlayPalette: palette } = session;
    const patchWidth = width / picture.columns;
    const patchHeight = height / picture.rows;
    // What the model did not see is dimmed.
    pen.fillStyle = ink("paper");
    pen.globalAlpha = 0.65;
    pen.beginPath();
    pen.rect(0, 0, wide, high);
    pen.rect(x + width, y, -width, height);
    pen.fill("evenodd");
    const asked = new Set(answer.question.units);
    const outline: [number, number][] = [];
    for (let row = 0; row < picture.rows; row++)
      for (let column = 0; column < picture.columns; column++) {
        const token = picture.prefix + row * picture.columns + column;
        const value = answer.values[token]!;
        const left = x + column * patchWidth;
        const top = y + row * patchHeight;
        if (!Number.isNaN(value)) {
          const size = answer.shade.of(value);
          pen.globalAlpha = session.state.opacity * Math.min(1, 2 * Math.abs(size));
          pen.fillStyle = palette.css(size);
          pen.fillRect(left, top, patchWidth + 0.5, patchHeight + 0.5);
        }
        if (asked.has(token)) outline.push([left, top]);
      }
    pen.globalAlpha = 1;
    pen.strokeStyle = ink("accent");
    pen.lineWidth = 3;
    for (const [left, top] of outline) pen.strokeRect(left, top, patchWidth, patchHeight);
    [...this.chips.children].forEach((chip) => {
      const token = session.one.inputs.labels.indexOf(chip.textContent!);
      chip.classList.toggle("asked", asked.has(token));
    });
  }
}
