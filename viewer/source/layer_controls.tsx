// Which layers, how much of the residual, and which paths.
import { type Child, h } from "./jsx";
import { Slider } from "./controls";
import { layerName } from "./layers";
import { log10, max } from "./numbers";
import { written } from "./scale";
import { AS_COMPUTED, type Session } from "./session";

export function LayerControls({ session }: { session: Session }) {
  const { one, state } = session;
  const out: Child[] = [];
  const layers = one.by_layer ?? [];
  if (layers.length > 1) {
    const k = session.layerOf(one);
    out.push(
      <Slider
        called={layers[0] === -1 ? "After layer" : "Up to layer"}
        chosen={k}
        most={layers.length - 1}
        says={layerName(layers[k]!)}
        take={(layer) => session.setLayer(layer)}
      />,
    );
  }
  if (one.maps) {
    const count = one.maps.length;
    const first = one.options.layers[0];
    const begin = max(0, state.begin);
    const end = state.end < 0 ? count : state.end;
    const residual = state.residual < 0 ? one.options.residual : state.residual;
    if (!one.fixed) {
      out.push(
        <Slider
          called="First layer"
          chosen={begin}
          most={count - 1}
          says={`${first + begin}`}
          take={(value) => session.update({ begin: value || -1, end: end <= value ? value + 1 : state.end })}
        />,
        <Slider
          called="Last layer"
          chosen={end - 1}
          most={count - 1}
          says={`${first + end - 1}`}
          take={(value) =>
            session.update({
              end: value === count - 1 ? -1 : value + 1,
              begin: begin > value ? value : state.begin,
            })
          }
        />,
        <Slider
          called="Residual"
          chosen={residual}
          most={0.95}
          step={0.05}
          says={residual.toFixed(2)}
          take={(value) => session.update({ residual: value === one.options.residual ? -1 : value })}
        />,
      );
    } else
      out.push(
        <p class="soft">
          Layers cannot be changed here: {one.fixed}. The graph is a plain rollout of these layers.
        </p>,
      );
    out.push(
      <Slider
        called="Paths from"
        chosen={log10(state.least)}
        least={-3}
        most={-0.3}
        step={0.05}
        says={`${written(100 * state.least)} %`}
        take={(value) => session.update({ least: +(10 ** value).toPrecision(2) })}
      />,
    );
    if (!one.fixed && max(state.begin, state.end, state.residual) >= 0)
      out.push(
        <button onclick={() => session.update(AS_COMPUTED)}>Reset</button>,
        <span class="soft">Recomputed in the page, with fewer digits.</span>,
      );
  }
  return <div class="toolbar">{out}</div>;
}
