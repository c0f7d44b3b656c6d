// Runs beside the page, so that it stays responsive.
import { byLayer, paths, type Prepared, rollRows } from "./rollout";

export interface Ask {
  id: number;
  maps?: Float32Array[]; // the first time only
  n?: number;
  residual: number;
  begin: number;
  end: number;
  rows?: number[]; // for a rollout
  start?: number[]; // for paths and the layers of one output
  least?: number;
}

const known: Prepared = { n: 0, maps: [], residual: 0 };

self.onmessage = (event: MessageEvent<Ask>) => {
  const ask = event.data;
  if (ask.maps) {
    known.maps = ask.maps;
    known.n = ask.n!;
  }
  const of = { ...known, residual: ask.residual };
  const answer: Record<string, unknown> = { id: ask.id };
  if (ask.rows) answer["values"] = rollRows(of, ask.rows, ask.begin, ask.end);
  if (ask.start) {
    Object.assign(answer, paths(of, ask.start, ask.begin, ask.end, ask.least!));
    answer["layers"] = byLayer(of, ask.start, ask.begin, ask.end);
  }
  self.postMessage(answer);
};
