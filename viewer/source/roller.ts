// Asks the worker for rollouts of other layers and residuals, always for the newest question only.
import type { Attribution } from "./contract";
import { clamp } from "./draw";
import type { Grid } from "./grid";
import type { Edge } from "./rollout";
import type { Session } from "./session";
import { unpack } from "./unpack";
import type { Ask } from "./worker";

declare const WORKER: string; // the built worker, put in by build.mjs

export interface Ways {
  edges: Edge[];
  levels: Float32Array[]; // what is left of the output at each level, top first
  layers: Float32Array[]; // the rollout up to each layer, lowest first
}

interface Reply extends Ways {
  id: number;
  values?: Float32Array;
}

export class Roller {
  private worker: Worker | null = null;
  private of: Attribution | null = null;
  private ready: Promise<void> | null = null;
  private id = 0;
  private readonly waiting = new Map<number, (reply: Reply) => void>();

  constructor(private readonly session: Session) {}

  /** Whether the page can compute this result again with other layers or another residual. */
  static why(of: Attribution): string | null {
    if (!of.maps) return "no layers";
    const { discard, preset, empty } = of.options;
    if (of.method !== "rollout") return `${of.method} cannot be computed again in the page`;
    if (discard > 0) return "a discard needs the engine";
    if (preset === "metrics") return "the preset metrics needs the engine";
    return empty === "zero" ? "empty rows as zeros need the engine" : null;
  }

  /** Ends the worker; nothing is asked after this. */
  end(): void {
    this.worker?.terminate();
    this.worker = this.ready = null;
  }

  private start(of: Attribution): Promise<void> {
    if (this.of === of && this.ready) return this.ready;
    this.of = of;
    this.worker?.terminate();
    this.worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    this.worker.onmessage = (event: MessageEvent<Reply>) => {
      this.waiting.get(event.data.id)?.(event.data);
      this.waiting.delete(event.data.id);
    };
    return (this.ready = Promise.all(of.maps!.map((map) => unpack(map, false))).then((grids) => {
      const n = of.inputs.labels.length;
      const maps = grids.map((grid) => floats(grid));
      this.post({ maps, n, residual: 0, begin: 0, end: 0 });
    }));
  }

  private post(ask: Omit<Ask, "id">): Promise<Reply> {
    const id = ++this.id;
    this.worker!.postMessage({ ...ask, id });
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  private range(of: Attribution) {
    const { begin, end, residual } = this.session.state;
    const count = of.maps!.length;
    const first = clamp(begin, 0, count - 1);
    return {
      begin: first,
      end: end < 0 ? count : clamp(end, first + 1, count), // a link may say anything
      residual: residual < 0 ? of.options.residual : residual,
    };
  }

  /** All rows of the view, for the layers and the residual that are chosen. */
  async roll(of: Attribution): Promise<Float32Array | null> {
    await this.start(of);
    const reply = await this.post({ ...this.range(of), rows: of.mean ? [-1] : of.rows });
    return reply.values ?? null;
  }

  async ways(of: Attribution, start: number[], least: number): Promise<Ways> {
    await this.start(of);
    return this.post({ ...this.range(of), start, least: Math.max(least, 1e-3) });
  }
}

function floats(grid: Grid): Float32Array {
  const out = new Float32Array(grid.rows * grid.columns);
  for (let r = 0; r < grid.rows; r++) grid.addRow(r, out.subarray(r * grid.columns, (r + 1) * grid.columns));
  return out;
}
