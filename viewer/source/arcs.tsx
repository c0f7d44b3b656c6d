// Single weights that a result names: the cut of a flow, edges with the largest relevance, and heads.
import { type Child, h, render } from "./jsx";
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
  const tables = made("div");
  const passing = heads && (await session.matrix({ ...one, values: [heads] }, 0));
  render(
    <>
      {cut &&
        edgeTable("The cut: the attention that limits the flow", inputs.labels, {
          ...cut,
          value: cut.capacity,
        })}
      {passing && headTable(session, passing)}
      {edges &&
        edgeTable(`The largest relevance that passes layer ${edges.layer}`, inputs.labels, {
          ...edges,
          layer: edges.from.map(() => edges.layer),
        })}
    </>,
    tables,
  );
  return [...(cut && carried && one.columns ? flowOf(one, cut, carried, wide) : []), tables];
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
      kind: (edge) => (edge.limits ? "edge cut" : "edge"),
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

function Table(props: { caption: string; head: (string | number)[]; rows: Child[][]; name?: string }) {
  return (
    <table class={props.name}>
      <caption>{props.caption}</caption>
      <thead>
        <tr>
          {props.head.map((name) => (
            <th>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((cells) => (
          <tr>{cells}</tr>
        ))}
      </tbody>
    </table>
  );
}

function edgeTable(caption: string, labels: string[], { layer, from, to, value }: Arcs) {
  const rows = layer
    .slice(0, MOST_ARCS)
    .map((layer, k) =>
      [layer, labels[from[k]!], labels[to[k]!], written(value[k]!)].map((cell) => <td>{cell}</td>),
    );
  return <Table caption={caption} head={["layer", "output", "input", "value"]} rows={rows} />;
}

/** Layers by heads, in the colours of the values; the topmost layer first. */
function headTable({ palette, one, state }: Session, heads: Grid) {
  const values = valuesOf(heads);
  const shade = shadeFor(state.scale, values);
  const rows = upTo(heads.high).map((l) => {
    const layer = one.options.layers[0] + l;
    return [
      <td>{layer}</td>,
      ...upTo(heads.wide).map((head) => {
        const value = values[l * heads.wide + head]!;
        const size = shade.of(value);
        return (
          <td
            title={`layer ${layer}, head ${head}: ${written(value)}`}
            style={{ background: palette.css(size) }}
            class={palette.flips(size) && "flip"}
          >
            {written(value, false)}
          </td>
        );
      }),
    ];
  });
  return (
    <Table
      name="heads"
      caption="Relevance that passes each head, by layer"
      head={["layer", ...upTo(heads.wide)]}
      rows={rows.reverse()}
    />
  );
}
