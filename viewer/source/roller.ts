// Asks the worker for rollouts of other layers and residuals, always for the newest question only.
import { floats } from "./arrays";
import type { Attribution } from "./contract";
import type { Grid } from "./grid";
import { clamp, max } from "./numbers";
import type { Edge } from "./rollout";
import { AS_COMPUTED, type Session } from "./session";
import { unpack } from "./unpack";
import type { Ask } from "./worker";

declare const WORKER: string; // the built worker, put in by build.mjs

export interface Paths {
  edges: Edge[];
  levels: Float32Array[]; // what is left of the output at each level, top first
  layers: Float32Array[]; // the rollout up to each layer, lowest first
}

interface Reply extends Paths {
  id: number;
  values?: Float32Array;
}

export type Roller = ReturnType<typeof rollerOf>;

export function rollerOf(session: Session) {
  const waiting = new Map<number, (reply: Reply) => void>();
  let worker: Worker | null = null;
  let of: Attribution | null = null; // what the worker has the maps of
  let ready: Promise<unknown> | null = null;
  let id = 0;

  /** Ends the worker; nothing is asked after this. */
  const end = () => {
    worker?.terminate();
    worker = ready = null;
  };
  const start = (one: Attribution) => {
    if (of === one && ready) return ready;
    end();
    of = one;
    // Notebooks may forbid a worker from a blob.
    worker = new Worker("data:text/javascript," + encodeURIComponent(WORKER));
    worker.onerror = () => {
      one.fixed = "no worker may run here";
      session.update(AS_COMPUTED);
    };
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      waiting.get(data.id)?.(data);
      waiting.delete(data.id);
    };
    return (ready = Promise.all(one.maps!.map((map) => unpack(map, false))).then((grids) => {
      void post({ maps: grids.map(valuesOf), n: one.inputs.labels.length, residual: 0, begin: 0, end: 0 });
    }));
  };
  const post = (ask: Omit<Ask, "id">): Promise<Reply> => {
    worker!.postMessage({ ...ask, id: ++id });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  const asked = async (one: Attribution, ask: Partial<Ask>): Promise<Reply> => {
    await start(one);
    const { begin, end, residual } = session.state;
    const count = one.maps!.length;
    const first = clamp(begin, 0, count - 1);
    return post({
      ...ask,
      begin: first,
      end: end < 0 ? count : clamp(end, first + 1, count), // a link may say anything
      residual: residual < 0 ? one.options.residual : residual,
    });
  };

  return {
    end,
    /** All rows of the view, for the layers and the residual that are chosen. */
    roll: async (one: Attribution) => (await asked(one, { rows: one.mean ? [-1] : one.rows })).values,
    paths: (one: Attribution, start: number[], least: number): Promise<Paths> =>
      asked(one, { start, least: max(least, 1e-3) }),
  };
}

/** All values of a grid, row by row. */
export function valuesOf(grid: Grid): Float32Array {
  const out = floats(grid.high * grid.wide);
  for (let r = 0; r < grid.high; r++) grid.addRow(r, out.subarray(r * grid.wide, (r + 1) * grid.wide));
  return out;
}
