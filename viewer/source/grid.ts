// A matrix as it was packed: a row or a column is unpacked when it is asked for.
import type { Packed } from "./contract";
import { floats } from "./arrays";
import { floor } from "./numbers";

export interface Grid {
  readonly high: number; // rows
  readonly wide: number; // columns
  readonly exact: boolean; // numbers are good to three digits
  /** Adds row r to `out`. */
  addRow(r: number, out: Float32Array): void;
  at(r: number, c: number): number;
  /** Row r as codes whose values rise with them, if it is stored so. */
  readonly codes: ((r: number) => { codes: Uint8Array; value: (code: number) => number }) | undefined;
}

function gridWith(
  rows: number,
  columns: number,
  exact: boolean,
  value: (r: number, place: number) => number,
  codes?: Grid["codes"],
): Grid {
  return {
    high: rows,
    wide: columns,
    exact,
    addRow(r, out) {
      for (let c = 0; c < columns; c++) out[c]! += value(r, r * columns + c);
    },
    at: (r, c) => value(r, r * columns + c),
    codes,
  };
}

export const floatGrid = (rows: number, columns: number, values: Float32Array, exact = true): Grid =>
  gridWith(rows, columns, exact, (_, place) => values[place]!);

/** Undoes the differences between rows, in every plane. */
export function sumRows(bytes: Uint8Array, columns: number, plane: number): void {
  for (let start = 0; start < bytes.length; start += plane)
    for (let k = columns; k < plane; k++) bytes[start + k]! += bytes[start + k - columns]!;
}

const view = new DataView(new ArrayBuffer(4));

/** The float that has these bits. */
function floatOf(bits: number): number {
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

/** A half has the bits of a float that is 2^112 times smaller, but for the place of its sign. */
export const halfToFloat = (bits: number): number =>
  floatOf(((bits & 0x8000) << 16) | ((bits & 0x7fff) << 13)) * 2 ** 112;

/** What the steps of a root stand for, over the largest of the row. */
export const fromRoot = (q: number, steps: number, withSigns: boolean): number =>
  withSigns ? (q & 1 ? -1 : 1) * ((q >> 1) / steps) ** 2 : (q / steps) ** 2;

/** A grid from the bytes that `scale` and `data` hold once they are unpacked. */
export function gridOf(packed: Packed, scale: Float32Array, bytes: Uint8Array, withSigns: boolean): Grid {
  const { rows, columns } = packed;
  const count = rows * columns;
  if (packed.difference) sumRows(bytes, columns, count);
  const { coding, steps } = packed;
  if (coding === "root8") {
    const table = floats(256).map((_, q) => fromRoot(q, steps, withSigns));
    const codes = (r: number) => ({
      codes: bytes.subarray(r * columns, (r + 1) * columns),
      value: (code: number) => scale[r]! * table[code]!,
    });
    const value = (r: number, place: number) => scale[r]! * table[bytes[place]!]!;
    return gridWith(rows, columns, false, value, withSigns ? undefined : codes);
  }
  const values = floats(count).map((_, k) => {
    const bits = (bytes[k]! << 8) | bytes[count + k]!;
    if (coding === "f32") return floatOf((bits << 16) | (bytes[2 * count + k]! << 8) | bytes[3 * count + k]!);
    return (
      scale[floor(k / columns)]! * (coding === "f16" ? halfToFloat(bits) : fromRoot(bits, steps, withSigns))
    );
  });
  return floatGrid(rows, columns, values, coding !== "root16");
}
