// Which layers, how much of the residual, and which paths.
import { type Child, h } from "./jsx";
import { Slider } from "./controls";
import { layerName } from "./layers";
import { log10, max } from "./numbers";
import { whyNot } from "./roller";
import { written } from "./scale";
import type { Session } from "./session";

export function LayerControls({ session }: { session: Session }) {
  const { one, state } = session;
  const out: Child[] = [];
  const layers = one.by_layer ?? [];
  if (layers.length > 1) {
    const k = session.layerOf(one);
    out.push(
      <Slider
        label={layers[0] === -1 ? "After layer" : "Up to layer"}
        value={k}
        most={layers.length - 1}
        shown={layerName(layers[k]!)}
        take={(layer) => session.setLayer(layer)}
      />,
    );
  }
  if (one.maps) {
    const why = whyNot(one);
    const count = one.maps.length;
    const first = one.options.layers[0];
    const begin = max(0, state.begin);
    const end = state.end < 0 ? count : state.end;
    const residual = state.residual < 0 ? one.options.residual : state.residual;
    if (why === null) {
      out.push(
        <Slider
          label="First layer"
          value={begin}
          most={count - 1}
          shown={String(first + begin)}
          take={(value) => session.update({ begin: value || -1, end: end <= value ? value + 1 : state.end })}
        />,
        <Slider
          label="Last layer"
          value={end - 1}
          most={count - 1}
          shown={String(first + end - 1)}
          take={(value) =>
            session.update({
              end: value === count - 1 ? -1 : value + 1,
              begin: begin > value ? value : state.begin,
            })
          }
        />,
        <Slider
          label="Residual"
          value={residual}
          most={0.95}
          step={0.05}
          shown={residual.toFixed(2)}
          take={(value) => session.update({ residual: value === one.options.residual ? -1 : value })}
        />,
      );
    } else
      out.push(
        <p class="soft">
          Layers cannot be changed here: {why}. The graph is a plain rollout of these layers.
        </p>,
      );
    out.push(
      <Slider
        label="Paths from"
        value={log10(state.least)}
        least={-3}
        most={-0.3}
        step={0.05}
        shown={`${written(100 * state.least)} %`}
        take={(value) => session.update({ least: Number((10 ** value).toPrecision(2)) })}
      />,
    );
    if (why === null && (state.begin >= 0 || state.end >= 0 || state.residual >= 0))
      out.push(
        <button onclick={() => session.update({ begin: -1, end: -1, residual: -1 })}>Reset</button>,
        <span class="soft">Recomputed in the page, with fewer digits.</span>,
      );
  }
  return <div class="toolbar">{out}</div>;
}
