// Lists of numbers.

/** 0 to count - 1. */
export const upTo = (count: number): number[] => [...Array(count).keys()];

export const floats = (count: number) => new Float32Array(count);
