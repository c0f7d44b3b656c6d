// The matrix: outputs down, inputs across. The wheel zooms, a drag brushes.
import { clamp, ink, made, on, onResize, penOn, say } from "./draw";
import { clamped, labelColumns, labelRows, nearest, type Window } from "./axes";
import { paintPooled, pool, type Pooled } from "./pool";
import { type Shade, shadeFor, written } from "./scale";
import type { Session } from "./session";
import { hideTip, showTip } from "./tip";

// prettier-ignore
const STEPS: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const WHOLE = 800; // pixels a side of the picture of all

export class MatrixView {
  readonly root = made("div", "matrix");
  readonly canvas = made("canvas");
  shade: Shade | null = null;
  onBrush: (token: number) => void = () => {};
  private columns: number[] = []; // input units that are drawn
  private window: Window | null = null;
  private picture: { key: string; canvas: HTMLCanvasElement } | null = null;
  private shadeKey = "";
  private margin = { left: 90, bottom: 74, top: 6, right: 6 };
  private drag: {
    x: number;
    y: number;
    row: number;
    column: number;
    pan: boolean;
    now: [number, number];
  } | null = null;
  private fingers = new Map<number, PointerEvent>();
  private lensSeen: object | null = null;
  private whole: Pooled | null = null;
  private base: { key: string; canvas: HTMLCanvasElement } | null = null;

  constructor(private readonly session: Session) {
    const { canvas } = this;
    canvas.tabIndex = 0;
    canvas.role = "img";
    this.root.append(canvas);
    onResize(this.root, () => session.grids && this.paint());
    on(canvas, {
      wheel: (event) => this.wheel(event),
      pointerdown: (event) => this.down(event),
      pointermove: (event) => this.move(event),
      pointerup: (event) => this.up(event),
      pointercancel: (event) => this.up(event),
      pointerleave: () => {
        hideTip();
        if (!this.drag) session.hover(null);
      },
      dblclick: () => this.reset(),
      keydown: (event) => this.key(event),
    });
  }

  private get plot() {
    const { left, bottom, top, right } = this.margin;
    const width = Math.max(20, this.canvas.clientWidth - left - right);
    const height = Math.max(10, this.canvas.clientHeight - top - bottom);
    return { x: left, y: top, width, height };
  }

  reset(): void {
    this.window = null;
    this.paint();
  }

  zoom(factor: number, at?: { x: number; y: number }): void {
    const view = this.view();
    const plot = this.plot;
    const x = at ? (at.x - plot.x) / plot.width : 0.5;
    const y = at ? (at.y - plot.y) / plot.height : 0.5;
    const width = Math.min(this.columns.length, Math.max(4, view.width / factor));
    const height = Math.min(this.session.lens.rows, Math.max(4, view.height / factor));
    this.window = this.inside({
      x: view.x + x * (view.width - width),
      y: view.y + y * (view.height - height),
      width,
      height,
    });
    this.paint();
  }

  private inside(window: Window): Window {
    return clamped(window, this.columns.length, this.session.lens.rows);
  }

  private view(): Window {
    return this.window ?? { x: 0, y: 0, width: this.columns.length, height: this.session.lens.rows };
  }

  private wheel(event: WheelEvent): void {
    const { lens } = this.session;
    if (lens.rows <= 4 && this.columns.length <= 4) return;
    if (!this.window && event.deltaY > 0) return; // nothing to zoom out of: the page scrolls
    event.preventDefault();
    if (event.shiftKey) {
      const view = this.view();
      this.window = this.inside({ ...view, x: view.x + (event.deltaX + event.deltaY) * 0.002 * view.width });
      return this.paint();
    }
    this.zoom(Math.exp(-event.deltaY * 0.0025), { x: event.offsetX, y: event.offsetY });
    const view = this.view();
    if (view.width >= this.columns.length && view.height >= lens.rows) this.window = null;
  }

  private cellAt(x: number, y: number): { row: number; column: number } | null {
    const plot = this.plot;
    const view = this.view();
    const column = Math.floor(view.x + ((x - plot.x) / plot.width) * view.width);
    const row = Math.floor(view.y + ((y - plot.y) / plot.height) * view.height);
    if (x < plot.x || y < plot.y || column >= this.columns.length || row >= this.session.lens.rows)
      return null;
    return x > plot.x + plot.width || y > plot.y + plot.height ? null : { row, column };
  }

  private down(event: PointerEvent): void {
    this.fingers.set(event.pointerId, event);
    const cell = this.cellAt(event.offsetX, event.offsetY);
    if (!cell || this.fingers.size > 1) return void (this.drag = null);
    this.canvas.setPointerCapture(event.pointerId);
    const pan = event.altKey || event.button === 1 || (event.pointerType === "touch" && this.window !== null);
    this.drag = { x: event.offsetX, y: event.offsetY, ...cell, pan, now: [event.offsetX, event.offsetY] };
  }

  private move(event: PointerEvent): void {
    if (this.fingers.has(event.pointerId) && this.fingers.size === 2) return this.pinch(event);
    if (this.drag) {
      const [x, y] = this.drag.now;
      this.drag.now = [event.offsetX, event.offsetY];
      if (this.drag.pan) {
        const view = this.view();
        this.window = this.inside({
          ...view,
          x: view.x - ((event.offsetX - x) / this.plot.width) * view.width,
          y: view.y - ((event.offsetY - y) / this.plot.height) * view.height,
        });
      }
      return this.paint();
    }
    this.point(this.cellAt(event.offsetX, event.offsetY), event.clientX, event.clientY);
  }

  private pinch(event: PointerEvent): void {
    const [a, b] = [...this.fingers.values()] as [PointerEvent, PointerEvent];
    const other = a.pointerId === event.pointerId ? b : a;
    const old = this.fingers.get(event.pointerId)!;
    const length = (one: PointerEvent) =>
      Math.hypot(one.offsetX - other.offsetX, one.offsetY - other.offsetY);
    this.fingers.set(event.pointerId, event);
    const at = { x: (event.offsetX + other.offsetX) / 2, y: (event.offsetY + other.offsetY) / 2 };
    this.zoom(length(event) / Math.max(1, length(old)), at);
  }

  private point(cell: { row: number; column: number } | null, x?: number, y?: number): void {
    const { session } = this;
    if (!cell) {
      hideTip();
      return session.hover(null);
    }
    const column = this.columns[cell.column]!;
    const unit = session.lens.rowUnits[cell.row]!;
    const question =
      session.state.ask === "from" ? { ask: "from", units: [unit] } : { ask: "to", units: [column] };
    const pinned = session.isPinned ? session.hovered : (question as { ask: "from" | "to"; units: number[] });
    session.hover(pinned, { row: cell.row, column });
    if (x === undefined) return;
    const value = session.lens.at(cell.row, column);
    showTip(x, y!, [written(value, session.lens.exact), this.nameOf(cell.row, column)]);
  }

  private nameOf(row: number, column: number): string {
    const { session } = this;
    const unit = session.lens.rowUnits[row]!;
    const above =
      unit < 0 ? "mean of the outputs" : `\u201c${session.units(session.outputs).labels[unit]}\u201d`;
    return `${above} from \u201c${session.units(session.one.inputs).labels[column]}\u201d`;
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    const { drag, session } = this;
    this.drag = null;
    if (!drag || event.type === "pointercancel") return;
    const moved = Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) > 4;
    if (drag.pan && moved) return;
    const to = this.cellAt(...nearest(this.plot, event.offsetX, event.offsetY));
    if (!moved || !to) {
      const unit = session.lens.rowUnits[drag.row]!;
      if (session.state.ask === "to") session.pin("to", this.columns[drag.column]!, event.shiftKey);
      else if (unit >= 0) session.pin("from", unit, event.shiftKey);
      return;
    }
    this.brush(drag, to);
  }

  /** Pins the outputs (or inputs) of the rectangle, and scrolls the text to it. */
  private brush(from: { row: number; column: number }, to: { row: number; column: number }): void {
    const { session } = this;
    const between = (a: number, b: number) =>
      Array.from({ length: Math.abs(a - b) + 1 }, (_, k) => Math.min(a, b) + k);
    const rows = between(from.row, to.row).map((r) => session.lens.rowUnits[r]!);
    const columns = between(from.column, to.column).map((c) => this.columns[c]!);
    const outputs = session.units(session.outputs);
    const inputs = session.units(session.one.inputs);
    const ask = session.state.ask;
    const units = ask === "from" ? rows.filter((unit) => unit >= 0) : columns;
    session.update({ pinned: units.flatMap((unit) => (ask === "from" ? outputs : inputs).tokens[unit]!) });
    this.onBrush(inputs.tokens[columns[0]!]![0]!);
  }

  private key(event: KeyboardEvent): void {
    const { session } = this;
    const cell = session.cell ?? { row: 0, column: this.columns[0] ?? 0 };
    const column = Math.max(0, this.columns.indexOf(cell.column));
    const step = STEPS[event.key];
    if (step && !event.altKey) {
      const next = {
        row: clamp(cell.row + step[0], 0, session.lens.rows - 1),
        column: clamp(column + step[1], 0, this.columns.length - 1),
      };
      const box = this.canvas.getBoundingClientRect();
      const view = this.view();
      const { plot } = this;
      this.point(
        next,
        box.left + plot.x + ((next.column + 0.5 - view.x) / view.width) * plot.width,
        box.top + plot.y + ((next.row + 0.5 - view.y) / view.height) * plot.height,
      );
    } else if (event.key === "Enter") {
      const ask = session.state.ask;
      session.pin(ask, ask === "to" ? cell.column : session.lens.rowUnits[cell.row]!, event.shiftKey);
    } else if (event.key === "+") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private makePicture(view: Window, key: string): HTMLCanvasElement {
    if (this.picture?.key === key) return this.picture.canvas;
    const { lens, palette } = this.session;
    const c0 = Math.floor(view.x);
    const r0 = Math.floor(view.y);
    const columns = this.columns.slice(c0, Math.ceil(view.x + view.width));
    const rows = Array.from({ length: Math.ceil(view.y + view.height) - r0 }, (_, k) => r0 + k);
    const ratio = devicePixelRatio || 1;
    const most = { width: Math.round(this.plot.width * ratio), height: Math.round(this.plot.height * ratio) };
    const all = !this.window && lens.rows >= most.height && columns.length >= most.width;
    const pooled = all ? this.whole! : pool(lens, rows, columns, most);
    const canvas = paintPooled(pooled, this.shade!, palette.table);
    this.picture = { key, canvas };
    return canvas;
  }

  /** Everything that does not need a place on the screen, such as the scale. */
  prepare(): void {
    const { session } = this;
    const { lens } = session;
    const hidden = session.side(true).hidden;
    const units = session.units(session.one.inputs);
    const only = session.one.columns ? new Set(session.one.columns.map((t) => units.of[t]!)) : null;
    this.columns = units.tokens
      .map((_, k) => k)
      .filter((k) => !units.tokens[k]!.every((t) => hidden[t]) && (!only || only.has(k)));
    if (lens !== this.lensSeen) {
      this.lensSeen = lens;
      // All of it in one picture; its largest value is the matrix's own.
      const rows = Array.from({ length: lens.rows }, (_, r) => r);
      this.whole = pool(lens, rows, this.columns, { width: WHOLE, height: WHOLE });
      this.picture = null;
      if (this.window) this.window = this.inside(this.window);
    }
    const key = `${session.state.scale}`;
    if (!this.picture || key !== this.shadeKey) {
      const { scale } = session.state;
      this.shade = shadeFor(scale, scale === "rank" ? lens.sample() : this.whole!.values);
      this.shadeKey = key;
      this.picture = null;
    }
    say(
      this.canvas,
      `Matrix of ${lens.rows} outputs by ${this.columns.length} inputs; largest value ${written(this.shade!.most)}`,
    );
  }

  render(): void {
    this.prepare();
    this.paint();
  }

  paint(): void {
    const { canvas, session } = this;
    if (!session.grids || !this.shade) return;
    const wide = this.root.clientWidth;
    if (wide === 0) return;
    const { lens } = session;
    const few = Math.min(1, (26 * lens.rows) / Math.max(1, wide - 96));
    const high = Math.max(130, Math.min(wide * 0.92, 560, (wide - 96) * Math.max(few, 0.08) + 80));
    canvas.style.height = `${high}px`; // the plot is as large as it will be
    this.draw(penOn(canvas, wide, high), wide, high);
  }

  /** The cells and the axes, which stay while the pointer moves. */
  private still(wide: number, high: number, view: Window): HTMLCanvasElement {
    const { session } = this;
    const ratio = devicePixelRatio || 1;
    const key = [view.x, view.y, view.width, view.height, wide, high, session.dark, ratio].join();
    if (this.base?.key === key && this.picture) return this.base.canvas;
    const canvas = made("canvas");
    const pen = penOn(canvas, wide, high);
    const { plot } = this;
    const picture = this.makePicture(view, key);
    pen.save();
    pen.beginPath();
    pen.rect(plot.x, plot.y, plot.width, plot.height);
    pen.clip();
    pen.imageSmoothingEnabled = false;
    const c0 = Math.floor(view.x);
    const r0 = Math.floor(view.y);
    const cellX = plot.width / view.width;
    const cellY = plot.height / view.height;
    pen.drawImage(
      picture,
      plot.x - (view.x - c0) * cellX,
      plot.y - (view.y - r0) * cellY,
      (Math.ceil(view.x + view.width) - c0) * cellX,
      (Math.ceil(view.y + view.height) - r0) * cellY,
    );
    pen.restore();
    pen.strokeStyle = ink("line");
    pen.strokeRect(plot.x - 0.5, plot.y - 0.5, plot.width + 1, plot.height + 1);
    pen.fillStyle = ink("soft");
    const { lens } = session;
    const outputs = session.units(session.outputs).labels;
    const inputs = session.units(session.one.inputs).labels;
    const short = (label?: string) => label?.replace(/^<(?:image|video) (.*)>$/, "$1");
    const row = (r: number) => (lens.rowUnits[r] === -1 ? "mean" : short(outputs[lens.rowUnits[r] ?? -1]));
    labelRows(pen, plot, view, row);
    labelColumns(pen, plot, view, (c) => short(inputs[this.columns[c] ?? -1]));
    this.base = { key, canvas };
    return canvas;
  }

  private draw(pen: CanvasRenderingContext2D, wide: number, high: number): void {
    const { session } = this;
    const { lens } = session;
    const view = this.view();
    const { plot } = this;
    pen.drawImage(this.still(wide, high, view), 0, 0, wide, high);
    const cellX = plot.width / view.width;
    const cellY = plot.height / view.height;
    pen.save();
    pen.beginPath();
    pen.rect(plot.x, plot.y, plot.width, plot.height);
    pen.clip();
    const x = (c: number) => plot.x + (c - view.x) * cellX;
    const y = (r: number) => plot.y + (r - view.y) * cellY;
    pen.strokeStyle = ink("accent");
    pen.lineWidth = 1.5;
    const { question } = session.answer;
    for (const unit of question.units.slice(0, 200)) {
      if (question.ask === "from") {
        const r = lens.rowOfUnit(unit);
        if (r !== undefined && lens.rows > 1)
          pen.strokeRect(plot.x + 0.75, y(r), plot.width - 1.5, Math.max(2, cellY));
      } else {
        const c = this.columns.indexOf(unit);
        if (c >= 0) pen.strokeRect(x(c), plot.y + 0.75, Math.max(2, cellX), plot.height - 1.5);
      }
    }
    if (session.cell) {
      const c = this.columns.indexOf(session.cell.column);
      pen.strokeStyle = ink("ink");
      pen.strokeRect(x(c) - 1, y(session.cell.row) - 1, Math.max(3, cellX) + 2, Math.max(3, cellY) + 2);
    }
    if (this.drag && !this.drag.pan) {
      const [nowX, nowY] = this.drag.now;
      pen.fillStyle = ink("accent");
      pen.globalAlpha = 0.2;
      pen.fillRect(this.drag.x, this.drag.y, nowX - this.drag.x, nowY - this.drag.y);
    }
    pen.restore();
  }
}
