// What every view counts with, under short names.
export const { abs, ceil, floor, log10, max, min, round } = Math;

/** The first of `count` places for which `isBefore` does not hold: it holds up to there. */
export function placeAfter(count: number, isBefore: (k: number) => boolean): number {
  let low = 0;
  while (low < count) {
    const middle = (low + count) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else count = middle;
  }
  return low;
}

export const clamp = (value: number, low: number, high: number): number => max(low, min(high, value));
