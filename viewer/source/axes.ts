// Where a matrix is on the screen, and its labels: all of them where they fit, else some.
import { type Pen, penForLabels } from "./draw";
import { ceil, clamp, max, min } from "./numbers";

/** What is seen of a matrix, in cells. */
export interface Window {
  x: number;
  y: number;
  wide: number;
  high: number;
}

/** The same window, moved and cut so that it shows only cells that are there. */
export function clamped({ x, y, wide, high }: Window, columns: number, rows: number): Window {
  wide = min(wide, columns);
  high = min(high, rows);
  return { wide, high, x: clamp(x, 0, columns - wide), y: clamp(y, 0, rows - high) };
}

/** The point of the plot that is nearest to this one. */
export const nearest = (plot: Window, x: number, y: number): [number, number] => [
  clamp(x, plot.x, plot.x + plot.wide - 1),
  clamp(y, plot.y, plot.y + plot.high - 1),
];

const LINE = 13; // pixels that a label needs

function fitted(pen: Pen, text: string, room: number): string {
  if (pen.measureText(text).width <= room) return text;
  const letters = [...text];
  const cut = () => letters.join("") + "\u2026";
  while (letters.length > 1 && pen.measureText(cut()).width > room) letters.pop();
  return cut();
}

/** Labels `count` cells from `first` on, each `size` pixels large, turned and ending where `place` says. */
export function labelCells(
  pen: Pen,
  { first, count, size, turn, room }: Record<"first" | "count" | "size" | "turn" | "room", number>,
  place: (middle: number) => [number, number],
  label: (cell: number) => string | undefined,
): void {
  penForLabels(pen);
  const every = max(1, ceil(LINE / size));
  for (let k = ceil(first / every) * every; k + 0.5 < first + count; k += every) {
    const text = label(k);
    if (!text) continue;
    pen.save();
    pen.translate(...place(k + 0.5));
    pen.rotate(turn);
    pen.fillText(fitted(pen, text, room), 0, 0);
    pen.restore();
  }
}
