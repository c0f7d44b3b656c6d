// What every view counts with, under short names.
export const { abs, ceil, floor, log10, max, min, round } = Math;

export const clamp = (value: number, low: number, high: number): number => max(low, min(high, value));
