// Where a matrix is on the screen, and its labels: all of them where they fit, else some.
import { clamp } from "./draw";

/** What is seen of a matrix, in cells. */
export interface Window {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The same window, moved and cut so that it shows only cells that are there. */
export function clamped(window: Window, columns: number, rows: number): Window {
  const width = Math.min(window.width, columns);
  const height = Math.min(window.height, rows);
  return {
    width,
    height,
    x: clamp(window.x, 0, columns - width),
    y: clamp(window.y, 0, rows - height),
  };
}

/** The point of the plot that is nearest to this one. */
export function nearest(plot: Window, x: number, y: number): [number, number] {
  return [clamp(x, plot.x, plot.x + plot.width - 1), clamp(y, plot.y, plot.y + plot.height - 1)];
}

type Pen = CanvasRenderingContext2D;

const FONT = "11px system-ui, sans-serif";
const LINE = 13; // pixels that a label needs
const LEFT = 80; // pixels for a label of a row
const BELOW = 86;

function fitted(pen: Pen, text: string, room: number): string {
  if (pen.measureText(text).width <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && pen.measureText(letters.join("") + "\u2026").width > room) letters.pop();
  return letters.join("") + "\u2026";
}

/** The cells from `first` to `end` that get a label, if each of them is `size` pixels large. */
function* labelled(first: number, end: number, size: number): Generator<number> {
  const every = Math.max(1, Math.ceil(LINE / size));
  for (let k = Math.ceil(first / every) * every; k < end; k += every) yield k;
}

export function labelRows(
  pen: Pen,
  plot: Window,
  seen: Window,
  label: (row: number) => string | undefined,
): void {
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  const size = plot.height / seen.height;
  for (const row of labelled(seen.y, seen.y + seen.height, size)) {
    const y = plot.y + (row + 0.5 - seen.y) * size;
    const text = label(row);
    if (text && y < plot.y + plot.height) pen.fillText(fitted(pen, text, LEFT), plot.x - 5, y);
  }
}

export function labelColumns(
  pen: Pen,
  plot: Window,
  seen: Window,
  label: (column: number) => string | undefined,
) {
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  const size = plot.width / seen.width;
  for (const column of labelled(seen.x, seen.x + seen.width, size)) {
    const text = label(column);
    if (!text) continue;
    pen.save();
    pen.translate(plot.x + (column + 0.5 - seen.x) * size, plot.y + plot.height + 5);
    pen.rotate(-Math.PI / 4);
    pen.fillText(fitted(pen, text, BELOW), 0, 0);
    pen.restore();
  }
}
