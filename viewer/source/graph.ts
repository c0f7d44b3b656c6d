// Paths through the layers, as a graph: the output on top, the inputs below, a level for each layer.
import { upTo } from "./arrays";
import type { Attribution } from "./contract";
import { on, placed, say, SVG } from "./draw";
import { max, min } from "./numbers";
import type { Edge } from "./rollout";
import { hideTip, showTip } from "./tip";
import { shortened } from "./units";

const STEP = 46; // pixels between two levels
const LETTERS = 12; // of a label, at an angle, below the lowest level

export interface Graph<E extends Edge> {
  about: string; // what it is, for those who listen
  edges: E[]; // layers count from the lowest level's
  levels: string[]; // their names, from the top
  nodes: { level: number; token: number; size: number }[]; // level counts from the top, size up to 1
  labels: string[]; // of all tokens
  wide: number; // pixels, at least
  kind: (edge: E) => string; // its class
  tip: (edge: E) => string[];
}

export function graphOf<E extends Edge>(graph: Graph<E>): SVGElement {
  const { about, edges, levels, nodes, labels, wide, kind, tip } = graph;
  const tokens = [...edges.flatMap((edge) => [edge.from, edge.to]), ...nodes.map(({ token }) => token)];
  const used = [...new Set(tokens)].sort((a, b) => a - b);
  const width = max(wide, 24 * used.length + 60);
  const height = (levels.length - 1) * STEP + 78;
  const x = (token: number) => 40 + ((used.indexOf(token) + 0.5) * (width - 50)) / used.length;
  const y = (level: number) => level * STEP + 16;
  const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  const name = (transform: string, text: string) =>
    svg.append(drawn("text", { transform, "text-anchor": "end", class: "axis" }, text));
  say(svg, about);
  for (const edge of [...edges].reverse()) {
    const level = levels.length - 2 - edge.layer;
    const [x0, y0, x1, y1] = [x(edge.from), y(level), x(edge.to), y(level + 1)];
    const middle = (y0 + y1) / 2;
    const line = drawn("path", {
      d: `M${x0} ${y0}C${x0} ${middle} ${x1} ${middle} ${x1} ${y1}`,
      "stroke-width": max(1, 18 * edge.share),
      "stroke-opacity": min(0.9, 0.25 + edge.share),
      class: kind(edge),
    });
    on(line, { pointermove: (event) => showTip(event, tip(edge)), pointerleave: hideTip });
    svg.append(line);
  }
  levels.forEach((text, k) => name(`translate(22 ${y(k) + 4})`, text));
  for (const { level, token, size } of nodes)
    svg.append(drawn("circle", { cx: x(token), cy: y(level), r: 2 + 6 * Math.sqrt(size), class: "node" }));
  for (const token of used)
    name(
      `translate(${x(token)} ${y(levels.length - 1) + 16}) rotate(-45)`,
      shortened(labels[token]!, LETTERS),
    );
  return svg;
}

/** Scrolls to the output that a graph starts from, if it is out of sight. */
export function showTop(frame: HTMLElement): void {
  const top = frame.querySelector(".node");
  const { left, right } = placed(frame);
  const x = top ? placed(top).x : left;
  if (x < left || x > right - 16) frame.scrollLeft += x - (left + right) / 2;
}

function drawn(name: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const element = document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, `${value}`);
  element.textContent = text;
  return element;
}

/** "layer 3: 'it' reads 'key'". */
export function reads({ inputs, options }: Attribution, { layer, from, to }: Edge): string {
  const { labels } = inputs;
  return `layer ${options.layers[0] + layer}: \u201c${labels[from]}\u201d reads \u201c${labels[to]}\u201d`;
}

/** Of `count` layers from `begin` on, the topmost first, and of the input. */
export const levelNames = ({ options }: Attribution, begin: number, count: number): string[] => [
  ...upTo(count).map((k) => `${options.layers[0] + begin + count - 1 - k}`),
  "in",
];
