// Single weights that a result names: the cut of a flow, edges with the largest relevance, and heads.
import { upTo } from "./arrays";
import type { Attribution, Cut } from "./contract";
import { made } from "./draw";
import { graphOf, levelNames, reads } from "./graph";
import type { Grid } from "./grid";
import { valuesOf } from "./roller";
import { shadeFor, written } from "./scale";
import type { Session } from "./session";

const MOST_ARCS = 200; // lines of a table

/** What there is of them, to stand below the strip of layers; `wide` pixels at least. */
export async function arcsOf(session: Session, wide: number): Promise<Element[]> {
  const { one } = session;
  const { cut, carried, heads, edges, inputs } = one;
  const out: Element[] = [];
  if (cut && carried && one.columns) out.push(...flowOf(one, cut, carried, wide));
  if (cut)
    out.push(
      edgeTable("The cut: the attention that limits the flow", inputs.labels, {
        ...cut,
        value: cut.capacity,
      }),
    );
  if (heads) out.push(headTable(session, await session.matrix({ ...one, values: [heads] }, 0)));
  if (edges) {
    const layer = edges.from.map(() => edges.layer);
    const caption = `The largest relevance that passes layer ${edges.layer}`;
    out.push(edgeTable(caption, inputs.labels, { ...edges, layer }));
  }
  return out;
}

/**
 * A flow between one output and one input, and its cut: the attention that limits it. What the cut holds is
 * carried in full.
 */
function flowOf(one: Attribution, cut: Cut, carried: Cut, wide: number): Element[] {
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
  return [
    made(
      "p",
      "soft",
      `The flow, ${written(total)} in total. Lines are as wide as what they carry. The cut is dashed: weights that are full and limit the flow.`,
    ),
    graphOf({
      about: `The flow: ${edges.length} weights carry it, ${cut.layer.length} limit it`,
      edges,
      levels: levelNames(one, 0, end - first),
      nodes: [
        { level: 0, token: one.rows[0]!, size: 1 },
        { level: end - first, token: one.columns![0]!, size: 1 },
      ],
      labels: one.inputs.labels,
      wide,
      kind: (edge) => (edge.limits ? "way cut" : "way"),
      tip: (edge) => [written(edge.share), reads(one, edge) + (edge.limits ? ", all of it" : "")],
    }),
  ];
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
  const { palette, one, state } = session;
  const table = tableOf("Relevance that passes each head, by layer", [
    "layer",
    ...upTo(heads.columns).map(String),
  ]);
  table.className = "heads";
  const values = valuesOf(heads);
  const shade = shadeFor(state.scale, values);
  for (let l = heads.rows - 1; l >= 0; l--) {
    const row = table.tBodies[0]!.insertRow();
    const layer = one.options.layers[0] + l;
    row.insertCell().textContent = String(layer);
    values.subarray(l * heads.columns, (l + 1) * heads.columns).forEach((value, h) => {
      const size = shade.of(value);
      const cell = row.insertCell();
      cell.textContent = written(value, false);
      cell.title = `layer ${layer}, head ${h}: ${written(value)}`;
      cell.style.background = palette.css(size);
      if (palette.flips(size)) cell.className = "flip";
    });
  }
  return table;
}
