// How an output comes about, layer by layer: a strip of layers by inputs, and the strongest paths through the
// layers as a graph.
import { floats, upTo } from "./arrays";
import type { Attribution } from "./contract";
import { made, on, onResize, outline, penForLabels, penOn, say } from "./draw";
import { graphOf, levelNames, reads, showTop } from "./graph";
import type { Grid } from "./grid";
import { ceil, clamp, floor, max } from "./numbers";
import { parts } from "./parts";
import { paintPooled } from "./pool";
import type { Roller, Paths } from "./roller";
import { written } from "./scale";
import type { Session } from "./session";
import { hideTip, showTip } from "./tip";

const MOST_EDGES = 300;
const LEFT = 34; // pixels for the names of layers

interface Strip {
  names: string[]; // of the layers, lowest first
  rows: Float32Array[]; // over units of the answer's side: inputs, unless the question is who uses one
  chosen: number; // the layer that the other views show
}

/** Whether there is anything to show of the layers of a result. */
export const hasLayers = ({ by_layer, maps, cut, heads, edges }: Attribution): boolean =>
  !!(by_layer?.[1] !== undefined || maps || cut || heads || edges);

export type LayersView = ReturnType<typeof layersView>;

export function layersView(session: Session, roller: Roller) {
  const root = made("div", "layers");
  const strip = made("canvas");
  const graph = made("div", "graph");
  let shown: Strip | null = null;
  let newest = 0;
  let timer = 0;

  const render = () => {
    clearTimeout(timer);
    // A pointer on its way asks a lot of questions; the last one is answered.
    timer = setTimeout(() => void look(), session.hovered ? 200 : 0);
  };
  const look = async () => {
    const ticket = ++newest;
    const { one, grids, state } = session;
    if (!grids || !hasLayers(one)) return;
    const { asked: question, from } = session.answer;
    const asked = session.side(!from).units.members;
    const tokens = question.units.flatMap((unit) => asked[unit] ?? [...one.inputs.labels.keys()]);
    let next: Strip | null = null;
    let found: Paths | null = null;
    if (one.by_layer?.[1] !== undefined) {
      const grids = await Promise.all(one.by_layer.map((_, k) => session.matrix(one, k)));
      const rows = grids.map((grid) => united(answerIn(grid, tokens)));
      next = { names: one.by_layer.map(layerName), rows, chosen: session.layerOf(one) };
    } else if (one.maps && from && tokens.length && !session.twoTexts) {
      found = await roller.paths(one, tokens, state.least);
      const begin = one.options.layers[0] + max(0, state.begin);
      const rows = found.layers.map((row) => united(row, one.mean ? 1 / tokens.length : 1));
      next = { names: rows.map((_, k) => `${begin + k}`), rows, chosen: rows.length - 1 };
    }
    const arcs = parts.arcs ? await parts.arcs(session, root.clientWidth) : [];
    if (ticket !== newest) return;
    shown = next;
    paint();
    graph.replaceChildren(...arcs);
    if (one.maps && !shown)
      graph.append(made("p", "soft", "To see layers and paths, reverse the question (t)."));
    if (found?.edges.length) drawPaths(found);
    showTop(graph);
  };

  /** What one layer's matrix says about the tokens that are asked about, over the tokens of the other side. */
  const answerIn = (grid: Grid, tokens: number[]): Float32Array => {
    const { one, answer, outputTokens } = session;
    const column = (c: number) => one.columns?.[c] ?? c;
    const out = floats((answer.from ? one.inputs : outputTokens).labels.length);
    const row = floats(grid.wide);
    if (answer.from) {
      if (one.mean) grid.addRow(0, row);
      else one.rows.forEach((token, r) => tokens.includes(token) && grid.addRow(r, row));
      row.forEach((value, c) => (out[column(c)] = value));
    } else {
      const among = upTo(grid.wide).filter((c) => tokens.includes(column(c)));
      one.rows.forEach((token, r) => among.forEach((c) => (out[token]! += grid.at(r, c))));
    }
    return out;
  };
  const united = (row: Float32Array, share = 1): Float32Array => {
    const { units, unseen } = session.side(session.answer.from);
    const out = floats(units.members.length);
    row.forEach((value, t) => {
      if (!unseen[t]) out[units.of[t]!]! += share * value;
    });
    return out;
  };

  const at = ({ offsetX, offsetY }: MouseEvent) => {
    const { rows, names } = shown!;
    const unit = floor(((offsetX - LEFT) / (strip.clientWidth - LEFT)) * rows[0]!.length);
    const layer = rows.length - 1 - floor((offsetY / strip.clientHeight) * rows.length);
    return { unit, layer, value: rows[layer]?.[unit], name: names[layer] };
  };
  const point = (event: PointerEvent) => {
    const { unit, value, name } = at(event);
    if (value === undefined) return hideTip();
    const label = session.side(session.answer.from).units.names[unit]!;
    showTip(event, [written(value, session.lens.exact), `\u201c${label}\u201d up to layer ${name}`]);
  };
  const paint = () => {
    strip.hidden = !shown;
    if (!shown || !session.grids) return;
    const { rows, names, chosen } = shown;
    const { shade, asked: question } = session.answer; // as in the text, so that the layer which is shown has its colours
    const width = rows[0]!.length;
    const height = rows.length;
    const high = clamp(16 * height, 60, 240);
    const wide = root.clientWidth;
    const values = floats(width * height);
    rows.forEach((row, l) => values.set(row, (height - 1 - l) * width));
    const pen = penOn(strip, wide, high);
    pen.imageSmoothingEnabled = width > wide;
    pen.drawImage(
      paintPooled({ wide: width, high: height, dots: values }, shade, session.palette.table),
      LEFT,
      0,
      wide - LEFT,
      high,
    );
    penForLabels(pen);
    const cell = high / height;
    const every = ceil(12 / cell);
    names.forEach((name, l) => l % every || pen.fillText(name, LEFT - 6, high - (l + 0.5) * cell));
    outline(pen, "--accent", 2, LEFT + 1, high - (chosen + 1) * cell + 1, wide - LEFT - 2, cell - 2);
    say(strip, `${height} layers by ${width} tokens for ${session.labelOf(question)}`);
  };

  const drawPaths = (found: Paths) => {
    const { one, state } = session;
    const edges = found.edges.sort((a, b) => b.share - a.share).slice(0, MOST_EDGES);
    const begin = max(0, state.begin);
    const depth = found.levels.length - 1;
    // Tokens that no drawn path touches are left out.
    const ends = new Set(
      edges.flatMap(({ layer, from, to }) => {
        const level = depth - 1 - (layer - begin);
        return [`${level} ${from}`, `${level + 1} ${to}`];
      }),
    );
    graph.append(
      graphOf({
        about: `${edges.length} strongest paths through the layers`,
        edges: edges.map((edge) => ({ ...edge, layer: edge.layer - begin })),
        levels: levelNames(one, begin, depth),
        nodes: found.levels.flatMap((row, level) =>
          [...row.keys()]
            .filter((token) => ends.has(`${level} ${token}`))
            .map((token) => ({ level, token, size: row[token]! })),
        ),
        labels: one.inputs.labels,
        wide: root.clientWidth,
        kind: () => "edge",
        tip: (edge) => [
          `${(100 * edge.share).toFixed(1)} %`,
          reads(one, { ...edge, layer: edge.layer + begin }),
        ],
      }),
    );
  };

  strip.role = "img";
  graph.tabIndex = 0; // it scrolls
  root.append(strip, graph);
  onResize(root, paint);
  on(strip, {
    pointermove: point,
    pointerleave: hideTip,
    click: (event) => {
      const { value, layer } = at(event);
      if (value !== undefined && session.one.by_layer) session.setLayer(layer);
    },
  });
  return { root, render, paint: render };
}

/** Relevance also has the input, before any layer. */
export const layerName = (layer: number): string => (layer < 0 ? "in" : `${layer}`);
