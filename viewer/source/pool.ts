// A matrix drawn into fewer pixels than it has cells: each pixel has the largest of its cells.
import { made } from "./draw";
import type { Lens } from "./lens";
import type { Shade } from "./scale";

export interface Pooled {
  width: number;
  height: number;
  values: Float32Array;
}

/** Rows r0 to r1 and columns c0 to c1 in at most width x height pixels. `keep` lists columns to draw. */
export function pool(
  lens: Lens,
  rows: number[],
  columns: number[],
  most: { width: number; height: number },
): Pooled {
  const width = Math.max(1, Math.min(columns.length, most.width));
  const height = Math.max(1, Math.min(rows.length, most.height));
  const values = new Float32Array(width * height);
  const line = new Float32Array(lens.columns);
  const top = new Uint8Array(width);
  const place = new Int32Array(columns.length);
  for (let k = 0; k < columns.length; k++) place[k] = Math.floor((k * width) / columns.length);
  for (let k = 0; k < rows.length; k++) {
    const y = Math.floor((k * height) / rows.length);
    const start = y * width;
    const stored = lens.codes(rows[k]!);
    if (stored) {
      // Of many cells only the largest code becomes a value.
      const { codes, value } = stored;
      top.fill(0);
      for (let c = 0; c < columns.length; c++) {
        const code = codes[columns[c]!]!;
        if (code > top[place[c]!]!) top[place[c]!] = code;
      }
      for (let x = 0; x < width; x++) values[start + x] = Math.max(values[start + x]!, value(top[x]!));
      continue;
    }
    line.fill(0);
    lens.addRow(rows[k]!, line);
    for (let c = 0; c < columns.length; c++) {
      const value = line[columns[c]!]!;
      const at = start + place[c]!;
      const old = values[at]!;
      if (value > old ? value > -old : -value > Math.abs(old)) values[at] = value;
    }
  }
  return { width, height, values };
}

export function paintPooled(pooled: Pooled, shade: Shade, table: Uint8Array): HTMLCanvasElement {
  const canvas = made("canvas");
  canvas.width = pooled.width;
  canvas.height = pooled.height;
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(pooled.width, pooled.height);
  const linear = shade.kind === "linear" && shade.most > 0;
  for (let k = 0; k < pooled.values.length; k++) {
    const value = pooled.values[k]!;
    const size = linear ? value / shade.most : shade.of(value);
    const at = 3 * (Math.round(Math.min(1, Math.max(-1, size)) * 255) + 255);
    image.data[4 * k] = table[at]!;
    image.data[4 * k + 1] = table[at + 1]!;
    image.data[4 * k + 2] = table[at + 2]!;
    image.data[4 * k + 3] = 255;
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}
