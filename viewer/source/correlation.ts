// Whether two results put the same tokens first.

import { upTo } from "./arrays";

/** Spearman's rank correlation; NaN if one of them is constant. Equal values share their mean rank. */
export function rankCorrelation(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const x = ranks(a);
  const y = ranks(b);
  const mean = (x.length - 1) / 2;
  let xy = 0;
  let xx = 0;
  let yy = 0;
  for (let k = 0; k < x.length; k++) {
    xy += (x[k]! - mean) * (y[k]! - mean);
    xx += (x[k]! - mean) ** 2;
    yy += (y[k]! - mean) ** 2;
  }
  return xx && yy ? xy / Math.sqrt(xx * yy) : NaN;
}

export function ranks(values: ArrayLike<number>): Float64Array {
  const order = upTo(values.length).sort((i, j) => values[i]! - values[j]!);
  const out = new Float64Array(values.length);
  for (let k = 0; k < order.length;) {
    let end = k + 1;
    while (end < order.length && values[order[end]!] === values[order[k]!]) end++;
    for (let t = k; t < end; t++) out[order[t]!] = (k + end - 1) / 2;
    k = end;
  }
  return out;
}
