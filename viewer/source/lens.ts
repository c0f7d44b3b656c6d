// What is looked at: a matrix of units by units, seen from either side.
//
// A row is an output, a column an input. Hidden inputs count as nothing; with `renormalise`, what is left of
// a row is divided by its sum. Units sum the values of their tokens.
import type { Grid } from "./grid";
import { floats } from "./arrays";
import { ceil, floor, max, min } from "./numbers";
import type { Units } from "./units";

export interface Side {
  units: Units;
  unseen: Uint8Array; // of tokens
}

export interface LensOptions {
  grid: Grid;
  minus?: Grid | null; // what is taken away, for a difference
  inputs: Side;
  outputs: Side;
  rowTokens: number[]; // the output token of each row of the grid; -1 for a mean
  columnTokens?: number[] | undefined; // the input token of each column; if not all in order
  renormalise: boolean;
}

export type Lens = ReturnType<typeof lensOf>;

export function lensOf(how: LensOptions) {
  const { grid, minus, inputs, outputs, rowTokens, columnTokens, renormalise } = how;
  const rowUnits: number[] = []; // the output unit of each row of the lens
  const rowsOf: number[][] = []; // grid rows of each row of the lens
  const lensRow = new Map<number, number>();
  const columns = inputs.units.members.length; // input units
  const raw = floats(grid.wide);
  const masses: number[] = []; // those that were asked for
  // Of each grid column; -1: hidden.
  const toUnit = Int32Array.from(raw, (_, c) => {
    const token = columnTokens?.[c] ?? c;
    return inputs.unseen[token] ? -1 : inputs.units.of[token]!;
  });
  // Whether the rows of the lens are those of the grid.
  const plain =
    !minus &&
    !renormalise &&
    columns === grid.wide &&
    toUnit.every((unit, c) => unit === c) &&
    outputs.units.members.every((one) => one.length === 1);
  // A result may be about hidden tokens alone, such as [CLS]; it is shown all the same.
  const some = rowTokens.some((token) => token >= 0 && !outputs.unseen[token]);
  rowTokens.forEach((token, r) => {
    if (some && outputs.unseen[token]) return;
    const unit = outputs.units.of[token] ?? -1;
    const known = lensRow.get(unit) ?? rowUnits.length;
    lensRow.set(unit, known);
    rowUnits[known] = unit;
    (rowsOf[known] ??= []).push(r);
  });
  const rows = rowUnits.length;

  const read = (from: Grid, r: number) => from.addRow(r, raw.fill(0));
  const addFrom = (from: Grid, r: number, out: Float32Array, sign: number) => {
    read(from, r);
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
  };
  /** Adds row r, over input units, to `out`. */
  const addRow = (r: number, out: Float32Array): void => {
    for (const g of rowsOf[r]!) {
      if (plain) grid.addRow(g, out);
      else addFrom(grid, g, out, 1);
      if (minus) addFrom(minus, g, out, -1);
    }
  };
  const row = (r: number) => {
    const out = floats(columns);
    addRow(r, out);
    return out;
  };

  return {
    how,
    high: rows,
    wide: columns,
    rowUnits,
    exact: grid.exact,
    addRow,
    row,
    /** The lens's row of an output unit, or undefined if it has none. */
    rowOfUnit: (unit: number) => lensRow.get(unit),
    /** Row r as the grid stores it, if nothing is between them. */
    codes: (r: number) => (plain && grid.codes?.(rowsOf[r]![0]!)) || null,
    /** What the outputs get from these input units together, one entry a row of the lens. */
    column(units: number[]): Float32Array {
      const out = floats(rows);
      if (renormalise || units.length > 64)
        return out.map((_, r) => {
          const values = row(r);
          return units.reduce((sum, unit) => sum + values[unit]!, 0);
        });
      toUnit.forEach((unit, c) => {
        if (units.includes(unit))
          rowsOf.forEach((own, r) => {
            for (const g of own) out[r]! += grid.at(g, c) - (minus ? minus.at(g, c) : 0);
          });
      });
      return out;
    },
    /** The sum of each grid row before anything was hidden: for generated text, the share of the prompt. */
    mass(r: number): number {
      let sum = 0;
      if (masses[r] === undefined)
        for (const g of rowsOf[r]!) {
          read(grid, g);
          for (const value of raw) sum += value;
        }
      return (masses[r] ??= sum / rowsOf[r]!.length);
    },
    /** The sizes of at most `most` values, evenly picked, to make a scale of. */
    sample(most = 20000): Float32Array {
      const count = min(rows, max(1, ceil(most / columns)));
      const out: number[] = [];
      for (let k = 0; k < count; k++) {
        const values = row(floor((k * rows) / count));
        const step = max(1, ceil((columns * count) / most));
        for (let c = k % step; c < columns; c += step) out.push(values[c]!);
      }
      return Float32Array.from(out);
    },
  };
}
