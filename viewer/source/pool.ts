// A matrix drawn into fewer pixels than it has cells: each pixel has the largest of its cells.
import { made, resize } from "./draw";
import type { Lens } from "./lens";
import { floats } from "./arrays";
import { abs, floor, max, min } from "./numbers";
import { type Shade, stepOf } from "./scale";

export interface Pooled {
  wide: number;
  high: number;
  dots: Float32Array; // their values
}

/** These rows and columns of the lens in at most `wide` x `high` pixels. */
export function pool(lens: Lens, rows: number[], columns: number[], wide: number, high: number): Pooled {
  const width = max(1, min(columns.length, wide));
  const height = max(1, min(rows.length, high));
  const values = floats(width * height);
  const line = floats(lens.wide);
  const top = new Uint8Array(width);
  const place = Int32Array.from(columns, (_, k) => floor((k * width) / columns.length));
  rows.forEach((row, k) => {
    const start = floor((k * height) / rows.length) * width;
    const stored = lens.codes(row);
    if (stored) {
      // Of many cells only the largest code becomes a value.
      const { codes, value } = stored;
      top.fill(0);
      for (let c = 0; c < columns.length; c++) {
        const code = codes[columns[c]!]!;
        if (code > top[place[c]!]!) top[place[c]!] = code;
      }
      for (let x = 0; x < width; x++) values[start + x] = max(values[start + x]!, value(top[x]!));
      return;
    }
    lens.addRow(row, line.fill(0));
    for (let c = 0; c < columns.length; c++) {
      const value = line[columns[c]!]!;
      const at = start + place[c]!;
      const old = values[at]!;
      if (value > old ? value > -old : -value > abs(old)) values[at] = value;
    }
  });
  return { wide: width, high: height, dots: values };
}

export function paintPooled(
  { wide, high, dots }: Pooled,
  shade: Shade,
  table: Uint32Array,
): HTMLCanvasElement {
  const canvas = made("canvas");
  resize(canvas, wide, high);
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  dots.forEach((value, k) => (pixels[k] = table[stepOf(shade.of(value))]!));
  pen.putImageData(image, 0, 0);
  return canvas;
}
