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

let maps: Float32Array[];
let n: number;

onmessage = ({ data }: MessageEvent<Ask>) => {
  const { id, residual, begin, end, rows, start, least } = data;
  if (data.maps) {
    maps = data.maps;
    n = data.n!;
  }
  const of: Prepared = { n, maps, residual };
  postMessage({
    id,
    ...(rows && { values: rollRows(of, rows, begin, end) }),
    ...(start && {
      ...paths(of, start, begin, end, least!),
      layers: byLayer(of, start, begin, end),
    }),
  });
};
