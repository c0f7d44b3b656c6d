// Curves over the same places, as SVG.
import { h } from "./jsx";

const INKS = ["--one", "--two", "--three", "--four", "--five", "--six"];

interface Line {
  name: string;
  values: (number | null)[];
}

/** Round numbers from below `low` to above `most`: about five of them. */
function ticksFor(low: number, most: number): number[] {
  const rough = (most - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((one) => one * power >= rough) ?? 10);
  const first = Math.floor(low / step + 1e-9);
  const count = Math.ceil(most / step - 1e-9) - first + 1;
  return Array.from({ length: count }, (_, k) => (first + k) * step);
}

export function Curves(props: { lines: Line[]; places: string[]; x: string; y: string }) {
  const wide = 560;
  const high = 260;
  const [left, bottom, top, right] = [46, 34, 24, 10];
  const all = props.lines.flatMap((line) => line.values.filter((value) => value !== null));
  const least = Math.min(0, ...all);
  const ticks = ticksFor(least, Math.max(least + 1e-9, ...all));
  const [low, most] = [ticks[0]!, ticks.at(-1)!];
  const count = props.places.length;
  const x = (k: number) => left + (count < 2 ? 0.5 : k / (count - 1)) * (wide - left - right);
  const y = (value: number) => top + (1 - (value - low) / (most - low)) * (high - top - bottom);
  const every = Math.ceil(count / 12);
  const look = (k: number) => `dash${Math.floor(k / INKS.length) % 2}`;
  return (
    <figure tabIndex={0} aria-label={`${props.y} over ${props.x}`}>
      <svg viewBox={`0 0 ${wide} ${high}`} role="img" aria-label={`${props.y} over ${props.x}`}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={left} x2={wide - right} y1={y(tick)} y2={y(tick)} class="rule" />
            <text x={left - 6} y={y(tick) + 4} text-anchor="end" class="axis">
              {String(Number(tick.toPrecision(3))).replace("-", "\u2212")}
            </text>
          </g>
        ))}
        {props.places.map((place, k) =>
          k % every ? null : (
            <text key={place} x={x(k)} y={high - bottom + 16} text-anchor="middle" class="axis">
              {place}
            </text>
          ),
        )}
        <text x={(left + wide) / 2} y={high - 3} text-anchor="middle" class="axis">
          {props.x}
        </text>
        <text x={4} y={12} class="axis">
          {props.y}
        </text>
        {props.lines.map((line, k) => {
          const points = (line.values.length === 1 ? props.places.map(() => line.values[0]!) : line.values)
            .map((value, place) => (value === null ? null : `${x(place)},${y(value)}`))
            .filter((point) => point !== null);
          return (
            <polyline
              key={line.name}
              points={points.join(" ")}
              style={{ stroke: `var(${INKS[k % INKS.length]})` }}
              class={`curve ${look(k)}`}
            />
          );
        })}
      </svg>
      <figcaption>
        {props.lines.map((line, k) => (
          <span key={line.name} class="key">
            <i class={look(k)} style={{ borderTopColor: `var(${INKS[k % INKS.length]})` }} />
            {line.name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
