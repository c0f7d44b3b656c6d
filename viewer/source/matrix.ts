// The matrix: outputs down, inputs across. The wheel zooms, a drag brushes.
import { clamped, labelCells, nearest, type Window } from "./axes";
import { inDots, ink, made, on, onResize, outline, type Pen, penOn, placed, say } from "./draw";
import { upTo } from "./arrays";
import { abs, ceil, clamp, floor, max, min } from "./numbers";
import { paintPooled, pool, type Pooled } from "./pool";
import { type Shade, shadeFor, written } from "./scale";
import type { Cell, Session } from "./session";
import { hideTip, leave, showTip } from "./tip";

// prettier-ignore
const STEPS: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const WHOLE = 800; // pixels a side of the picture of all
const [LEFT, TOP, RIGHT, BELOW] = [90, 6, 6, 74]; // pixels around the cells

export type MatrixView = ReturnType<typeof matrixView>;

/** `onBrush` hears which input token a reader brushed first. */
export function matrixView(session: Session, onBrush: (token: number) => void) {
  const root = made("div", "matrix");
  const canvas = made("canvas");
  const fingers = new Map<number, PointerEvent>();
  let shade: Shade | null = null;
  let columns: number[] = []; // input units that are drawn
  let window: Window | null = null; // null: all of it
  let drag: { x: number; y: number; nowX: number; nowY: number; cell: Cell; pan: boolean } | null = null;
  let lensSeen: object | null = null;
  let whole: Pooled | null = null;
  let base: { key: string; canvas: HTMLCanvasElement } | null = null;

  /** Where the cells are, and which of them are seen. */
  const frame = () => {
    const wide = max(20, canvas.clientWidth - LEFT - RIGHT);
    const high = max(10, canvas.clientHeight - TOP - BELOW);
    const view = window ?? { x: 0, y: 0, wide: columns.length, high: session.lens.high };
    const cellX = wide / view.wide;
    const cellY = high / view.high;
    return {
      plot: { x: LEFT, y: TOP, wide, high },
      view,
      cellX,
      cellY,
      x: (column: number) => LEFT + (column - view.x) * cellX,
      y: (row: number) => TOP + (row - view.y) * cellY,
    };
  };
  const show = (next: Window | null) => {
    window = next && clamped(next, columns.length, session.lens.high);
    paint();
  };
  const zoom = (factor: number, [x, y]: [number, number] = [0.5, 0.5]) => {
    const { view } = frame();
    const wide = min(columns.length, max(4, view.wide / factor));
    const high = min(session.lens.high, max(4, view.high / factor));
    show({ x: view.x + x * (view.wide - wide), y: view.y + y * (view.high - high), wide, high });
  };
  /** A point of the canvas as shares of the plot. */
  const shares = (x: number, y: number): [number, number] => {
    const { plot } = frame();
    return [(x - LEFT) / plot.wide, (y - TOP) / plot.high];
  };
  const wheel = (event: WheelEvent) => {
    const { high: rows } = session.lens;
    if (rows <= 4 && columns.length <= 4) return;
    if (!window && event.deltaY > 0) return; // nothing to zoom out of: the page scrolls
    event.preventDefault();
    const { view } = frame();
    if (event.shiftKey)
      return show({ ...view, x: view.x + (event.deltaX + event.deltaY) * 0.002 * view.wide });
    zoom(Math.exp(-event.deltaY * 0.0025), shares(event.offsetX, event.offsetY));
    if (window!.wide >= columns.length && window!.high >= rows) window = null;
  };
  const cellAt = (x: number, y: number): Cell | null => {
    const { view } = frame();
    const [right, down] = shares(x, y);
    const column = floor(view.x + right * view.wide);
    const row = floor(view.y + down * view.high);
    const inside = min(right, down) >= 0 && max(right, down) <= 1;
    return inside && column < columns.length && row < session.lens.high ? { row, column } : null;
  };

  const down = (event: PointerEvent) => {
    const { offsetX: x, offsetY: y } = event;
    const cell = cellAt(x, y);
    fingers.set(event.pointerId, event);
    drag = null;
    if (!cell || fingers.size > 1) return;
    canvas.setPointerCapture(event.pointerId);
    const pan = event.altKey || event.button === 1 || (event.pointerType === "touch" && window !== null);
    drag = { x, y, nowX: x, nowY: y, cell, pan };
  };
  const move = (event: PointerEvent) => {
    const { offsetX: x, offsetY: y } = event;
    if (fingers.has(event.pointerId) && fingers.size === 2) return pinch(event);
    if (!drag) return point(cellAt(x, y), event);
    const { nowX, nowY, pan } = drag;
    [drag.nowX, drag.nowY] = [x, y];
    const { view, cellX, cellY } = frame();
    if (pan) show({ ...view, x: view.x - (x - nowX) / cellX, y: view.y - (y - nowY) / cellY });
    else paint();
  };
  const pinch = (event: PointerEvent) => {
    const old = fingers.get(event.pointerId)!;
    const other = [...fingers.values()].find((one) => one !== old)!;
    const length = (one: PointerEvent) =>
      Math.hypot(one.offsetX - other.offsetX, one.offsetY - other.offsetY);
    fingers.set(event.pointerId, event);
    zoom(
      length(event) / max(1, length(old)),
      shares((event.offsetX + other.offsetX) / 2, (event.offsetY + other.offsetY) / 2),
    );
  };
  const point = (cell: Cell | null, at?: { clientX: number; clientY: number }) => {
    if (!cell) return leave(session);
    const { lens, state, inputUnits } = session;
    const column = columns[cell.column]!;
    const unit = lens.rowUnits[cell.row]!;
    const { ask } = state;
    session.hover(session.isPinned ? session.hovered : { ask, units: [ask === "from" ? unit : column] }, {
      row: cell.row,
      column,
    });
    if (at)
      showTip(at, [
        written(lens.row(cell.row)[column]!, lens.exact),
        `${session.labelOf({ ask: "from", units: [unit] })} from \u201c${inputUnits.names[column]}\u201d`,
      ]);
  };
  const up = (event: PointerEvent) => {
    const { offsetX: x, offsetY: y } = event;
    const was = drag;
    fingers.delete(event.pointerId);
    drag = null;
    if (!was || event.type === "pointercancel") return;
    const moved = Math.hypot(x - was.x, y - was.y) > 4;
    if (was.pan && moved) return;
    const to = cellAt(...nearest(frame().plot, x, y));
    if (moved && to) brush(was.cell, to);
    else pin(was.cell.row, columns[was.cell.column]!, event);
  };
  const pin = (row: number, column: number, event: MouseEvent | KeyboardEvent) => {
    const { ask } = session.state;
    session.pin(ask, ask === "to" ? column : session.lens.rowUnits[row]!, event.shiftKey);
  };
  /** Pins the outputs (or inputs) of the rectangle, and scrolls the text to it. */
  const brush = (from: Cell, to: Cell) => {
    const between = (a: number, b: number) => upTo(abs(a - b) + 1).map((k) => min(a, b) + k);
    const { inputUnits, outputUnits, lens } = session;
    const asks = session.state.ask === "from";
    const brushed = between(from.column, to.column).map((c) => columns[c]!);
    const units = asks ? between(from.row, to.row).map((r) => lens.rowUnits[r]!) : brushed;
    const { members: tokens } = asks ? outputUnits : inputUnits;
    session.update({ pinned: units.flatMap((unit) => tokens[unit] ?? []) });
    onBrush(inputUnits.members[brushed[0]!]![0]!);
  };
  const key = (event: KeyboardEvent) => {
    const { row, column } = session.cell ?? { row: 0, column: columns[0]! };
    const step = STEPS[event.key];
    if (step && !event.altKey) {
      const down = clamp(row + step[0], 0, session.lens.high - 1);
      const right = clamp(max(0, columns.indexOf(column)) + step[1], 0, columns.length - 1);
      const view = window;
      if (view) {
        // What is zoomed moves with the cell.
        const x = clamp(view.x, right + 1 - view.wide, right);
        show({ ...view, x, y: clamp(view.y, down + 1 - view.high, down) });
      }
      const { left, top } = placed(canvas);
      const { x, y } = frame();
      point({ row: down, column: right }, { clientX: left + x(right + 0.5), clientY: top + y(down + 0.5) });
    } else if (event.key === "Enter") pin(row, column, event);
    else if (event.key === "+") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "0") show(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** Everything that does not need a place on the screen, such as the scale. */
  const prepare = () => {
    const { lens, one, inputUnits } = session;
    if (lens === lensSeen) return;
    lensSeen = lens;
    base = null;
    const { unseen } = session.side(true);
    const only = one.columns && new Set(one.columns.map((t) => inputUnits.of[t]!));
    columns = upTo(lens.wide).filter(
      (k) => !inputUnits.members[k]!.every((t) => unseen[t]) && (!only || only.has(k)),
    );
    if (window) window = clamped(window, columns.length, lens.high);
    // All of it in one picture; its largest value is the matrix's own.
    whole = pool(lens, upTo(lens.high), columns, WHOLE, WHOLE);
    const { scale } = session.state;
    shade = shadeFor(scale, scale === "rank" ? lens.sample() : whole.dots);
    say(
      canvas,
      `Matrix of ${lens.high} outputs by ${columns.length} inputs; largest value ${written(shade.most)}`,
    );
  };
  const paint = () => {
    const wide = root.clientWidth;
    if (!session.grids || !shade || !wide) return;
    const few = min(1, (26 * session.lens.high) / max(1, wide - 96));
    const high = max(130, min(wide * 0.92, 560, (wide - 96) * max(few, 0.08) + 80));
    draw(penOn(canvas, wide, high), wide, high);
  };
  const render = () => {
    prepare();
    paint();
  };

  /** The cells and the axes, which stay while the pointer moves. */
  const still = (wide: number, high: number): HTMLCanvasElement => {
    const { plot, view, cellX, cellY, x, y } = frame();
    const { lens, palette, inputUnits, outputUnits } = session;
    const key = [...Object.values(view), wide, high, session.dark, devicePixelRatio].join();
    if (base?.key === key) return base.canvas;
    const canvas = made("canvas");
    const pen = penOn(canvas, wide, high);
    const [c0, r0] = [floor(view.x), floor(view.y)];
    const across = columns.slice(c0, ceil(view.x + view.wide));
    const rows = upTo(ceil(view.y + view.high) - r0).map((k) => r0 + k);
    const [dotsX, dotsY] = [inDots(plot.wide), inDots(plot.high)];
    const all = !window && lens.high >= dotsY && across.length >= dotsX;
    const picture = paintPooled(all ? whole! : pool(lens, rows, across, dotsX, dotsY), shade!, palette.table);
    pen.imageSmoothingEnabled = false;
    clipped(pen, plot, () =>
      pen.drawImage(picture, x(c0), y(r0), across.length * cellX, rows.length * cellY),
    );
    outline(pen, "--line", 1, LEFT - 0.5, TOP - 0.5, plot.wide + 1, plot.high + 1);
    const short = (label?: string) => label?.replace(/^<(?:image|video) (.*)>$/, "$1");
    labelCells(
      pen,
      { first: view.y, count: view.high, size: cellY, turn: 0, room: 80 },
      (row) => [LEFT - 5, y(row)],
      (row) => (lens.rowUnits[row]! < 0 ? "mean" : short(outputUnits.names[lens.rowUnits[row]!])),
    );
    labelCells(
      pen,
      { first: view.x, count: view.wide, size: cellX, turn: -Math.PI / 4, room: 86 },
      (column) => [x(column), TOP + plot.high + 5],
      (column) => short(inputUnits.names[columns[column]!]),
    );
    base = { key, canvas };
    return canvas;
  };
  const draw = (pen: Pen, wide: number, high: number) => {
    const { lens, answer, cell } = session;
    const { plot, cellX, cellY, x, y } = frame();
    const { asked: question } = answer;
    pen.drawImage(still(wide, high), 0, 0, wide, high);
    clipped(pen, plot, () => {
      for (const unit of question.units.slice(0, 200)) {
        const c = columns.indexOf(unit);
        const r = lens.rowOfUnit(unit);
        if (question.ask === "to") {
          if (c >= 0) outline(pen, "--accent", 1.5, x(c), TOP + 0.75, max(2, cellX), plot.high - 1.5);
        } else if (r !== undefined && lens.high > 1)
          outline(pen, "--accent", 1.5, LEFT + 0.75, y(r), plot.wide - 1.5, max(2, cellY));
      }
      if (cell)
        outline(
          pen,
          "--ink",
          1.5,
          x(columns.indexOf(cell.column)) - 1,
          y(cell.row) - 1,
          max(3, cellX) + 2,
          max(3, cellY) + 2,
        );
      if (drag && !drag.pan) {
        pen.fillStyle = ink("--accent");
        pen.globalAlpha = 0.2;
        pen.fillRect(drag.x, drag.y, drag.nowX - drag.x, drag.nowY - drag.y);
      }
    });
  };

  canvas.tabIndex = 0;
  canvas.role = "img";
  root.append(canvas);
  onResize(root, paint);
  on(canvas, {
    wheel,
    pointerdown: down,
    pointermove: move,
    pointerup: up,
    pointercancel: up,
    pointerleave: () => {
      hideTip();
      if (!drag) session.hover(null);
    },
    dblclick: () => show(null),
    keydown: key,
  });
  return { root, canvas, shade: () => shade, prepare, paint, render };
}

/** Draws inside of the plot only. */
function clipped(pen: Pen, plot: Window, draw: () => void): void {
  pen.save();
  pen.beginPath();
  pen.rect(plot.x, plot.y, plot.wide, plot.high);
  pen.clip();
  draw();
  pen.restore();
}
