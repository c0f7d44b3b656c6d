// Ways through the layers, as a graph: the output on top, the inputs below, a level for each layer.
import type { Edge } from "./rollout";
import { hideTip, showTip } from "./tip";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 46; // pixels between two levels

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
  const place = new Map(used.map((token, k) => [token, k]));
  const width = Math.max(wide, 24 * used.length + 60);
  const high = (levels.length - 1) * STEP + 78;
  const x = (token: number) => 40 + ((place.get(token)! + 0.5) * (width - 50)) / used.length;
  const y = (level: number) => level * STEP + 16;
  const svg = make("svg", { width, height: high, viewBox: `0 0 ${width} ${high}`, role: "img" });
  svg.setAttribute("aria-label", about);
  for (const edge of [...edges].reverse()) {
    const level = levels.length - 2 - edge.layer;
    const [x0, y0, x1, y1] = [x(edge.from), y(level), x(edge.to), y(level + 1)];
    const line = make("path", {
      d: `M${x0} ${y0}C${x0} ${(y0 + y1) / 2} ${x1} ${(y0 + y1) / 2} ${x1} ${y1}`,
      "stroke-width": Math.max(1, 18 * edge.share),
      "stroke-opacity": Math.min(0.9, 0.25 + edge.share),
      class: kind(edge),
    });
    line.addEventListener("pointermove", (event) => {
      const { clientX, clientY } = event as PointerEvent;
      showTip(clientX, clientY, tip(edge));
    });
    line.addEventListener("pointerleave", hideTip);
    svg.append(line);
  }
  levels.forEach((name, k) =>
    svg.append(make("text", { x: 22, y: y(k) + 4, "text-anchor": "end", class: "axis" }, name)),
  );
  for (const { level, token, size } of nodes)
    svg.append(make("circle", { cx: x(token), cy: y(level), r: 2 + 6 * Math.sqrt(size), class: "node" }));
  for (const token of used) {
    const transform = `translate(${x(token)} ${y(levels.length - 1) + 16}) rotate(-45)`;
    svg.append(make("text", { transform, "text-anchor": "end", class: "axis" }, labels[token]!));
  }
  return svg;
}

function make(name: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text) element.textContent = text;
  return element;
}
