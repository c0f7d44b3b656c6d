// What is looked at: a matrix of units by units, seen from either side.
//
// A row is an output, a column an input. Hidden inputs count as nothing; with `renormalise`, what is left of
// a row is divided by its sum. Units sum the values of their tokens.
import type { Grid } from "./grid";
import type { Units } from "./units";

export interface Side {
  units: Units;
  hidden: Uint8Array; // of tokens
}

export interface LensOptions {
  grid: Grid;
  minus?: Grid | undefined; // what is taken away, for a difference
  inputs: Side;
  outputs: Side;
  rowTokens: number[]; // the output token of each row of the grid; -1 for a mean
  columnTokens: number[] | null; // the input token of each column; null: all in order
  renormalise: boolean;
}

export class Lens {
  readonly rowUnits: number[] = []; // the output unit of each row of the lens
  private readonly rowsOf: number[][] = []; // grid rows of each row of the lens
  private readonly lensRow = new Map<number, number>();
  readonly columns: number; // input units
  readonly exact: boolean;
  private readonly raw: Float32Array;
  private readonly plain: boolean; // the rows of the lens are those of the grid
  private readonly toUnit: Int32Array; // of each grid column; -1: hidden

  constructor(readonly how: LensOptions) {
    const { grid, inputs, outputs, rowTokens, columnTokens } = how;
    this.columns = inputs.units.tokens.length;
    this.exact = grid.exact;
    this.raw = new Float32Array(grid.columns);
    this.toUnit = new Int32Array(grid.columns);
    for (let c = 0; c < grid.columns; c++) {
      const token = columnTokens ? columnTokens[c]! : c;
      this.toUnit[c] = inputs.hidden[token] ? -1 : inputs.units.of[token]!;
    }
    const inOrder = this.toUnit.every((unit, c) => unit === c) && this.columns === grid.columns;
    this.plain =
      inOrder && !how.minus && !how.renormalise && outputs.units.tokens.every((one) => one.length === 1);
    // A result may be about hidden tokens alone, such as [CLS]; it is shown all the same.
    const some = rowTokens.some((token) => token >= 0 && !outputs.hidden[token]);
    rowTokens.forEach((token, r) => {
      if (some && token >= 0 && outputs.hidden[token]) return;
      const unit = token < 0 ? -1 : outputs.units.of[token]!;
      const known = this.lensRow.get(unit);
      if (known !== undefined) return void this.rowsOf[known]!.push(r);
      this.lensRow.set(unit, this.rowUnits.length);
      this.rowUnits.push(unit);
      this.rowsOf.push([r]);
    });
  }

  get rows(): number {
    return this.rowUnits.length;
  }

  /** The lens's row of an output unit, or undefined if it has none. */
  rowOfUnit(unit: number): number | undefined {
    return this.lensRow.get(unit);
  }

  private addGridRow(r: number, out: Float32Array): void {
    const { grid, minus, renormalise } = this.how;
    this.addOne(grid, r, out, 1, renormalise);
    if (minus) this.addOne(minus, r, out, -1, renormalise);
  }

  private addOne(grid: Grid, r: number, out: Float32Array, sign: number, renormalise: boolean): void {
    const { raw, toUnit } = this;
    raw.fill(0);
    grid.addRow(r, raw);
    let factor = sign;
    if (renormalise) {
      let sum = 0;
      for (let c = 0; c < raw.length; c++) if (toUnit[c]! >= 0) sum += raw[c]!;
      factor = sum === 0 ? 0 : sign / sum;
    }
    for (let c = 0; c < raw.length; c++) {
      const unit = toUnit[c]!;
      if (unit >= 0) out[unit]! += factor * raw[c]!;
    }
  }

  /** Adds row r, over input units, to `out`. */
  addRow(r: number, out: Float32Array): void {
    if (this.plain) return this.how.grid.addRow(this.rowsOf[r]![0]!, out);
    for (const g of this.rowsOf[r]!) this.addGridRow(g, out);
  }

  /** Row r as the grid stores it, if nothing is between them. */
  codes(r: number) {
    return (this.plain && this.how.grid.codes?.(this.rowsOf[r]![0]!)) || null;
  }

  row(r: number): Float32Array {
    const out = new Float32Array(this.columns);
    this.addRow(r, out);
    return out;
  }

  at(r: number, c: number): number {
    return this.row(r)[c]!;
  }

  /** What the outputs get from these input units together, one entry a row of the lens. */
  column(units: number[]): Float32Array {
    const { grid, minus, renormalise } = this.how;
    const out = new Float32Array(this.rows);
    if (renormalise || units.length > 64) {
      for (let r = 0; r < this.rows; r++) {
        const row = this.row(r);
        for (const unit of units) out[r]! += row[unit]!;
      }
      return out;
    }
    const wanted = new Set(units);
    for (let c = 0; c < grid.columns; c++) {
      if (this.toUnit[c]! < 0 || !wanted.has(this.toUnit[c]!)) continue;
      for (let r = 0; r < this.rows; r++)
        for (const g of this.rowsOf[r]!) out[r]! += grid.at(g, c) - (minus ? minus.at(g, c) : 0);
    }
    return out;
  }

  /** The sum of each grid row before anything was hidden: for generated text, the share of the prompt. */
  mass(r: number): number {
    let sum = 0;
    for (const g of this.rowsOf[r]!) {
      this.raw.fill(0);
      this.how.grid.addRow(g, this.raw);
      for (const value of this.raw) sum += value;
    }
    return sum / this.rowsOf[r]!.length;
  }

  /** The sizes of at most `most` values, evenly picked, to make a scale of. */
  sample(most = 20000): Float32Array {
    const rows = Math.min(this.rows, Math.max(1, Math.ceil(most / this.columns)));
    const out: number[] = [];
    for (let k = 0; k < rows; k++) {
      const row = this.row(Math.floor((k * this.rows) / rows));
      const step = Math.max(1, Math.ceil((row.length * rows) / most));
      for (let c = k % step; c < row.length; c += step) out.push(row[c]!);
    }
    return Float32Array.from(out);
  }
}
