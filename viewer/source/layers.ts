// How an output comes about, layer by layer: a strip of layers by inputs, and the strongest ways through the
// layers as a graph.
import type { Attribution, Cut } from "./contract";
import { ink, made, on, onResize, penOn, say } from "./draw";
import { graphOf } from "./graph";
import type { Grid } from "./grid";
import { paintPooled } from "./pool";
import type { Roller, Ways } from "./roller";
import type { Edge } from "./rollout";
import { shadeFor, written } from "./scale";
import type { Session } from "./session";
import { hideTip, showTip } from "./tip";
import { unpack } from "./unpack";

const MOST_EDGES = 300;
const MOST_ARCS = 200; // lines of a table

interface Strip {
  names: string[]; // of the layers, lowest first
  rows: Float32Array[]; // over units of the answer's side: inputs, unless the question is who uses one
  chosen: number; // the layer that the other views show
}

export class LayersView {
  readonly root = made("div", "layers");
  private readonly strip = made("canvas");
  private readonly graph = made("div", "graph");
  private shown: Strip | null = null;
  private ways: Ways | null = null;
  private heads: Grid | null = null;
  private ticket = 0;
  private timer = 0;

  constructor(
    private readonly session: Session,
    private readonly roller: Roller,
  ) {
    this.strip.role = "img";
    this.root.append(this.strip, this.graph);
    onResize(this.root, () => this.paint());
    on(this.strip, {
      pointermove: (event) => this.point(event),
      pointerleave: hideTip,
      click: (event) => {
        const at = this.at(event);
        if (at && session.one.by_layer) session.setLayer(at.layer);
      },
    });
  }

  static has(of: Attribution): boolean {
    return (
      (of.by_layer?.length ?? 0) > 1 ||
      of.maps !== undefined ||
      of.cut !== undefined ||
      of.heads !== undefined ||
      of.edges !== undefined
    );
  }

  render(): void {
    clearTimeout(this.timer);
    // A pointer on its way asks a lot of questions; the last one is answered.
    this.timer = window.setTimeout(() => void this.look(), this.session.hovered ? 200 : 0);
  }

  private async look(): Promise<void> {
    const ticket = ++this.ticket;
    const { session } = this;
    const { one } = session;
    if (!session.grids || !LayersView.has(one)) return;
    const { question } = session.answer;
    const asks = question.ask === "from";
    const asked = session.side(!asks).units.tokens;
    const all = () => [...one.inputs.labels.keys()];
    const tokens = question.units.flatMap((unit) => (unit < 0 ? all() : asked[unit]!));
    let strip: Strip | null = null;
    let ways: Ways | null = null;
    const heads = one.heads ? await unpack(one.heads, true) : null;
    if (one.by_layer && one.by_layer.length > 1) {
      const grids = await Promise.all(one.by_layer.map((_, k) => session.matrix(one, k)));
      const rows = grids.map((grid) => this.united(this.answerIn(grid, tokens, asks), asks));
      const chosen = session.layerOf(one);
      strip = { names: one.by_layer.map(layerName), rows, chosen };
    } else if (one.maps && asks && tokens.length && !session.twoTexts) {
      ways = await this.roller.ways(one, tokens, session.state.least);
      const begin = one.options.layers[0] + Math.max(0, session.state.begin);
      const share = one.mean ? 1 / tokens.length : 1;
      const rows = ways.layers.map((row) => this.united(row, true, share));
      strip = { names: rows.map((_, k) => String(begin + k)), rows, chosen: rows.length - 1 };
    }
    if (ticket !== this.ticket) return;
    this.shown = strip;
    this.ways = ways;
    this.heads = heads;
    this.paint();
    this.drawGraph();
  }

  /** What one layer's matrix says about the tokens that are asked about, over the tokens of the other side. */
  private answerIn(grid: Grid, tokens: number[], asks: boolean): Float32Array {
    const { one, outputs } = this.session;
    const column = (c: number) => one.columns?.[c] ?? c;
    const out = new Float32Array((asks ? one.inputs : outputs).labels.length);
    const row = new Float32Array(grid.columns);
    if (asks) {
      if (one.mean) grid.addRow(0, row);
      else one.rows.forEach((token, r) => tokens.includes(token) && grid.addRow(r, row));
      row.forEach((value, c) => (out[column(c)] = value));
    } else {
      const among = [...row.keys()].filter((c) => tokens.includes(column(c)));
      one.rows.forEach((token, r) => among.forEach((c) => (out[token]! += grid.at(r, c))));
    }
    return out;
  }

  private united(row: Float32Array, isInput: boolean, share = 1): Float32Array {
    const { units, hidden } = this.session.side(isInput);
    const out = new Float32Array(units.tokens.length);
    for (let t = 0; t < row.length; t++) if (!hidden[t]) out[units.of[t]!]! += share * row[t]!;
    return out;
  }

  private at(event: MouseEvent): { layer: number; unit: number } | null {
    if (!this.shown) return null;
    const { rows } = this.shown;
    const width = this.strip.clientWidth - 34;
    const unit = Math.floor(((event.offsetX - 34) / width) * rows[0]!.length);
    const layer = rows.length - 1 - Math.floor((event.offsetY / this.strip.clientHeight) * rows.length);
    return unit < 0 || unit >= rows[0]!.length || layer < 0 || layer >= rows.length ? null : { layer, unit };
  }

  private point(event: PointerEvent): void {
    const at = this.at(event);
    if (!at) return hideTip();
    const { question } = this.session.answer;
    const label = this.session.side(question.ask === "from").units.labels[at.unit]!;
    showTip(event.clientX, event.clientY, [
      written(this.shown!.rows[at.layer]![at.unit]!, this.session.lens.exact),
      `\u201c${label}\u201d up to layer ${this.shown!.names[at.layer]}`,
    ]);
  }

  paint(): void {
    const { strip, shown, session } = this;
    strip.hidden = !shown;
    if (!shown || !session.grids) return;
    const high = Math.min(240, Math.max(60, 16 * shown.rows.length));
    const wide = this.root.clientWidth;
    const columns = shown.rows[0]!.length;
    const values = new Float32Array(columns * shown.rows.length);
    shown.rows.forEach((row, l) => values.set(row, (shown.rows.length - 1 - l) * columns));
    const { shade } = session.answer; // as in the text, so that the layer which is shown has its colours
    const picture = paintPooled(
      { width: columns, height: shown.rows.length, values },
      shade,
      session.palette.table,
    );
    const pen = penOn(strip, wide, high);
    pen.imageSmoothingEnabled = columns > wide;
    pen.drawImage(picture, 34, 0, wide - 34, high);
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.fillStyle = ink("soft");
    const cell = high / shown.rows.length;
    const every = Math.ceil(12 / cell);
    shown.names.forEach((name, l) => {
      if (l % every === 0) pen.fillText(name, 28, high - (l + 0.5) * cell);
    });
    pen.strokeStyle = ink("accent");
    pen.lineWidth = 2;
    pen.strokeRect(35, high - (shown.chosen + 1) * cell + 1, wide - 36, cell - 2);
    say(
      strip,
      `${shown.rows.length} layers by ${columns} tokens for ${session.labelOf(session.answer.question)}`,
    );
  }

  private drawGraph(): void {
    this.graph.replaceChildren();
    const { session } = this;
    const { cut } = session.one;
    if (cut) {
      if (session.one.columns && session.one.carried) this.drawFlow(cut, session.one.carried);
      this.graph.append(
        edgeTable("The cut: the attention that limits the flow", session.one.inputs.labels, {
          ...cut,
          value: cut.capacity,
        }),
      );
    }
    if (this.heads) this.graph.append(headTable(session, this.heads));
    const { edges: relevant } = session.one;
    if (relevant) {
      const layer = relevant.from.map(() => relevant.layer);
      this.graph.append(
        edgeTable(`The largest relevance that passes layer ${relevant.layer}`, session.one.inputs.labels, {
          ...relevant,
          layer,
        }),
      );
    }
    const { ways } = this;
    if (session.one.maps && !this.shown)
      this.graph.append(
        made("p", "soft", "Layers and paths are those of an output: turn the question round."),
      );
    if (!ways || !ways.edges.length) return;
    const edges = ways.edges.sort((a, b) => b.share - a.share).slice(0, MOST_EDGES);
    const begin = Math.max(0, session.state.begin);
    const depth = ways.levels.length - 1;
    // What no way touches that is drawn says nothing here.
    const ends = new Set(
      edges.flatMap(({ layer, from, to }) => {
        const level = depth - 1 - (layer - begin);
        return [`${level} ${from}`, `${level + 1} ${to}`];
      }),
    );
    const nodes = ways.levels.flatMap((row, level) =>
      [...row.keys()]
        .filter((token) => ends.has(`${level} ${token}`))
        .map((token) => ({ level, token, size: row[token]! })),
    );
    this.graph.append(
      graphOf({
        about: `The strongest ways through the layers: ${edges.length} of them`,
        edges: edges.map((edge) => ({ ...edge, layer: edge.layer - begin })),
        levels: this.levelNames(begin, depth),
        nodes,
        labels: session.one.inputs.labels,
        wide: this.root.clientWidth,
        kind: () => "way",
        tip: (edge) => [
          `${(100 * edge.share).toFixed(1)} %`,
          this.reads({ ...edge, layer: edge.layer + begin }),
        ],
      }),
    );
  }

  /** "layer 3: 'it' reads 'key'". */
  private reads({ layer, from, to }: Edge): string {
    const { labels } = this.session.one.inputs;
    const number = this.session.one.options.layers[0] + layer;
    return `layer ${number}: \u201c${labels[from]}\u201d reads \u201c${labels[to]}\u201d`;
  }

  /** Of `count` layers from `begin` on, the topmost first, and of the input. */
  private levelNames(begin: number, count: number): string[] {
    const first = this.session.one.options.layers[0] + begin;
    return [...Array.from({ length: count }, (_, k) => String(first + count - 1 - k)), "in"];
  }

  /**
   * A flow between one output and one input, and its cut: the attention that limits it. What the cut holds is
   * carried in full.
   */
  private drawFlow(cut: Cut, carried: Cut): void {
    const { one } = this.session;
    const [first, end] = one.options.layers;
    const name = ({ layer, from, to }: Cut, k: number) => `${layer[k]} ${from[k]} ${to[k]}`;
    const limits = new Set(cut.layer.map((_, k) => name(cut, k)));
    const edges = carried.layer.map((layer, k) => ({
      layer: layer - first,
      from: carried.from[k]!,
      to: carried.to[k]!,
      share: carried.capacity[k]!,
      limits: limits.has(name(carried, k)),
    }));
    const total = cut.capacity.reduce((sum, one) => sum + one, 0);
    const ends = [
      { level: 0, token: one.rows[0]!, size: 1 },
      { level: end - first, token: one.columns![0]!, size: 1 },
    ];
    this.graph.append(
      made(
        "p",
        "soft",
        `The flow, ${written(total)} in all: a line is as wide as what it carries. The cut is dashed: these weights are used up, and together they limit the flow.`,
      ),
      graphOf({
        about: `The flow: ${edges.length} attention weights carry it, ${cut.layer.length} limit it`,
        edges,
        levels: this.levelNames(0, end - first),
        nodes: ends,
        labels: one.inputs.labels,
        wide: this.root.clientWidth,
        kind: (edge) => (edge.limits ? "way cut" : "way"),
        tip: (edge) => [written(edge.share), this.reads(edge) + (edge.limits ? ", all of it" : "")],
      }),
    );
  }
}

interface Arcs {
  layer: number[];
  from: number[];
  to: number[];
  value: number[];
}

function tableOf(caption: string, head: string[]): HTMLTableElement {
  const table = made("table");
  table.createCaption().textContent = caption;
  const row = table.createTHead().insertRow();
  for (const name of head) row.append(made("th", "", name));
  table.createTBody();
  return table;
}

function edgeTable(caption: string, labels: string[], arcs: Arcs): HTMLElement {
  const table = tableOf(caption, ["layer", "output", "input", "value"]);
  arcs.layer.slice(0, MOST_ARCS).forEach((layer, k) => {
    const row = table.tBodies[0]!.insertRow();
    const cells = [layer, labels[arcs.from[k]!], labels[arcs.to[k]!], written(arcs.value[k]!)];
    for (const text of cells) row.insertCell().textContent = String(text);
  });
  return table;
}

/** Layers by heads, in the colours of the values; the topmost layer first. */
function headTable(session: Session, heads: Grid): HTMLElement {
  const names = Array.from({ length: heads.columns }, (_, h) => String(h));
  const table = tableOf("Relevance that passes each head, by layer", ["layer", ...names]);
  table.className = "heads";
  const all = new Float32Array(heads.rows * heads.columns);
  for (let l = 0; l < heads.rows; l++)
    heads.addRow(l, all.subarray(l * heads.columns, (l + 1) * heads.columns));
  const shade = shadeFor(session.state.scale, all);
  const { palette } = session;
  for (let l = heads.rows - 1; l >= 0; l--) {
    const row = table.tBodies[0]!.insertRow();
    row.insertCell().textContent = String(session.one.options.layers[0] + l);
    for (let h = 0; h < heads.columns; h++) {
      const value = heads.at(l, h);
      const cell = row.insertCell();
      cell.textContent = written(value, false);
      cell.title = `layer ${session.one.options.layers[0] + l}, head ${h}: ${written(value)}`;
      cell.style.background = palette.css(shade.of(value));
      if (palette.flips(shade.of(value))) cell.className = "flip";
    }
  }
  return table;
}

/** Relevance also has the input, before any layer. */
export function layerName(layer: number): string {
  return layer < 0 ? "in" : String(layer);
}
