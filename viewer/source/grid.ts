// A matrix as it was packed: a row or a column is unpacked when it is asked for.
import type { Packed } from "./contract";

export interface Grid {
  readonly rows: number;
  readonly columns: number;
  readonly exact: boolean; // numbers are good to three digits
  /** Adds row r to `out`. */
  addRow(r: number, out: Float32Array): void;
  at(r: number, c: number): number;
  /** Row r as codes whose values rise with them, if it is stored so. */
  codes?(r: number): { codes: Uint8Array; value: (code: number) => number } | null;
}

export class FloatGrid implements Grid {
  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly values: Float32Array,
    readonly exact = true,
  ) {}
  addRow(r: number, out: Float32Array): void {
    const start = r * this.columns;
    for (let c = 0; c < this.columns; c++) out[c]! += this.values[start + c]!;
  }
  at(r: number, c: number): number {
    return this.values[r * this.columns + c]!;
  }
}

export class ByteGrid implements Grid {
  readonly exact = false;
  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly scale: Float32Array,
    readonly bytes: Uint8Array,
    readonly table: Float32Array,
    private readonly rising: boolean, // without signs
  ) {}
  codes(r: number) {
    const codes = this.bytes.subarray(r * this.columns, (r + 1) * this.columns);
    return this.rising ? { codes, value: (code: number) => this.scale[r]! * this.table[code]! } : null;
  }
  addRow(r: number, out: Float32Array): void {
    const start = r * this.columns;
    const scale = this.scale[r]!;
    const { bytes, table } = this;
    for (let c = 0; c < this.columns; c++) out[c]! += scale * table[bytes[start + c]!]!;
  }
  at(r: number, c: number): number {
    return this.scale[r]! * this.table[this.bytes[r * this.columns + c]!]!;
  }
}

/** Undoes the differences between rows, in every plane. */
export function sumRows(bytes: Uint8Array, columns: number, plane: number): void {
  for (let start = 0; start < bytes.length; start += plane)
    for (let k = columns; k < plane; k++) bytes[start + k]! += bytes[start + k - columns]!;
}

export function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** What the steps of a root stand for, over the largest of the row. */
export function fromRoot(q: number, steps: number, withSigns: boolean): number {
  return withSigns ? (q & 1 ? -1 : 1) * ((q >> 1) / steps) ** 2 : (q / steps) ** 2;
}

/** A grid from the bytes that `scale` and `data` hold once they are unpacked. */
export function gridOf(packed: Packed, scale: Float32Array, bytes: Uint8Array, withSigns: boolean): Grid {
  const { rows, columns } = packed;
  const count = rows * columns;
  if (packed.difference) sumRows(bytes, columns, count);
  const table = Float32Array.from({ length: 256 }, (_, q) => fromRoot(q, packed.steps, withSigns));
  if (packed.coding === "root8") return new ByteGrid(rows, columns, scale, bytes, table, !withSigns);
  const values = new Float32Array(count);
  if (packed.coding === "f32") {
    const view = new DataView(new ArrayBuffer(4));
    for (let k = 0; k < count; k++) {
      for (let b = 0; b < 4; b++) view.setUint8(b, bytes[b * count + k]!);
      values[k] = view.getFloat32(0);
    }
  } else {
    const { coding, steps } = packed;
    for (let k = 0; k < count; k++) {
      const bits = (bytes[k]! << 8) | bytes[count + k]!;
      const share = coding === "f16" ? halfToFloat(bits) : fromRoot(bits, steps, withSigns);
      values[k] = scale[Math.floor(k / columns)]! * share;
    }
  }
  return new FloatGrid(rows, columns, values, packed.coding !== "root16");
}
