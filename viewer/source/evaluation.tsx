// The tables and curves of evaluate, and plain tables of numbers.
import { Fragment, h, useState } from "./jsx";
import type { Evaluation, Spreads, Table } from "./contract";

const INKS = ["--one", "--two", "--three", "--four", "--five", "--six"];

interface Line {
  name: string;
  values: (number | null)[];
}

/** Curves over the same places, as SVG. */
export function Curves(props: { lines: Line[]; places: string[]; x: string; y: string }) {
  const wide = 560;
  const high = 240;
  const [left, bottom, top, right] = [46, 34, 10, 10];
  const all = props.lines.flatMap((line) => line.values.filter((value) => value !== null));
  const low = Math.min(0, ...all);
  const most = Math.max(low + 1e-9, ...all);
  const count = props.places.length;
  const x = (k: number) => left + (count < 2 ? 0.5 : k / (count - 1)) * (wide - left - right);
  const y = (value: number) => top + (1 - (value - low) / (most - low)) * (high - top - bottom);
  const ticks = [low, (low + most) / 2, most];
  const every = Math.ceil(count / 12);
  return (
    <figure>
      <svg viewBox={`0 0 ${wide} ${high}`} role="img" aria-label={`${props.y} over ${props.x}`}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={left} x2={wide - right} y1={y(tick)} y2={y(tick)} class="rule" />
            <text x={left - 6} y={y(tick) + 4} text-anchor="end" class="axis">
              {tick.toFixed(2)}
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
        {props.lines.map((line, k) => {
          const points = (line.values.length === 1 ? props.places.map(() => line.values[0]!) : line.values)
            .map((value, place) => (value === null ? null : `${x(place)},${y(value)}`))
            .filter((point) => point !== null);
          return (
            <polyline
              key={line.name}
              points={points.join(" ")}
              style={{ stroke: `var(${INKS[k % INKS.length]})` }}
              class={`curve dash${Math.floor(k / INKS.length) % 2}`}
            />
          );
        })}
      </svg>
      <figcaption>
        {props.lines.map((line, k) => (
          <span key={line.name} class="key">
            <i style={{ background: `var(${INKS[k % INKS.length]})` }} />
            {line.name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

type Cell = string | number | null;

/** A table that sorts by any column. */
export function Sortable(props: { caption: string; head: string[]; rows: Cell[][]; tips?: string[][] }) {
  const [by, setBy] = useState(-1);
  const [down, setDown] = useState(true);
  const order = props.rows.map((_, k) => k);
  if (by >= 0)
    order.sort((a, b) => {
      const [x, y] = [props.rows[a]![by]!, props.rows[b]![by]!];
      if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
      const gap = typeof x === "string" ? x.localeCompare(String(y)) : x - Number(y);
      return down ? -gap : gap;
    });
  return (
    <div class="wide">
      <table class="numbers">
        <caption>{props.caption}</caption>
        <thead>
          <tr>
            {props.head.map((name, k) => (
              <th key={name} aria-sort={by === k ? (down ? "descending" : "ascending") : "none"}>
                <button
                  onclick={() => {
                    setDown(by === k ? !down : k > 0);
                    setBy(k);
                  }}
                >
                  {name}
                  <span aria-hidden="true">{by === k ? (down ? " \u2193" : " \u2191") : ""}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {order.map((r) => (
            <tr key={r}>
              {props.rows[r]!.map((cell, k) => {
                const text = cell === null ? "\u2013" : typeof cell === "number" ? cell.toFixed(3) : cell;
                const tip = props.tips?.[r]?.[k];
                return k === 0 ? (
                  <th key={k} scope="row">
                    {text}
                  </th>
                ) : (
                  <td key={k} title={tip}>
                    {text}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function layerTable(caption: string, methods: Record<string, Spreads>, first: number) {
  const names = Object.keys(methods);
  const count = Math.max(...names.map((name) => methods[name]!.mean.length));
  const head = ["method", ...Array.from({ length: count }, (_, k) => `layer ${first + k}`), "best"];
  const rows = names.map((name) => {
    const { mean } = methods[name]!;
    const cells: Cell[] = Array.from({ length: count }, (_, k) =>
      mean.length === 1 ? mean[0]! : (mean[k] ?? null),
    );
    const known = mean.filter((value) => value !== null);
    return [name, ...cells, known.length ? Math.max(...known) : null];
  });
  const tips = names.map((name) => {
    const { deviation, count: examples } = methods[name]!;
    return [
      "",
      ...deviation.map((one, k) => (one === null ? "" : `\u00b1 ${one.toFixed(3)}, ${examples[k]} examples`)),
    ];
  });
  return <Sortable caption={caption} head={head} rows={rows} tips={tips} />;
}

export function EvaluationView({ item, Body }: { item: Evaluation; Body: "main" | "div" }) {
  const { record } = item;
  const first = record.options.layers[0];
  const lines = (methods: Record<string, Spreads>) =>
    Object.entries(methods).map(([name, spreads]) => ({ name, values: spreads.mean }));
  const places = (methods: Record<string, Spreads>) =>
    Array.from({ length: Math.max(...Object.values(methods).map((one) => one.mean.length)) }, (_, k) =>
      String(first + k),
    );
  const faithful = record.faithfulness ? Object.entries(record.faithfulness) : [];
  const against = Object.keys(record.correlation);
  const methods = against.length ? Object.keys(record.correlation[against[0]!]!) : [];
  return (
    <Body class="evaluation">
      {against.map((name) => (
        <section key={name} aria-label={`Against ${name}`}>
          <h2>Rank correlation with {name}</h2>
          {layerTable(`Mean over ${record.count} examples`, record.correlation[name]!, first)}
          <Curves
            lines={lines(record.correlation[name]!)}
            places={places(record.correlation[name]!)}
            x="layer"
            y="correlation"
          />
        </section>
      ))}
      {record.truth && (
        <section aria-label="Truth">
          <h2>How often the top token is a true one</h2>
          {layerTable(`Chance: ${record.truth.chance.mean[0]?.toFixed(3)}`, record.truth.methods, first)}
          {record.truth.found && (
            <>
              <h2>How many of several true tokens are on top</h2>
              {layerTable(
                "Share of the top k tokens that are true, where k tokens are true",
                record.truth.found,
                first,
              )}
            </>
          )}
        </section>
      )}
      {faithful.length > 0 && (
        <section aria-label="Faithfulness">
          <h2>Faithfulness</h2>
          <Sortable
            caption="Comprehensiveness: more is better. Sufficiency and area: less is better."
            head={["method", "comprehensiveness", "sufficiency", "area"]}
            rows={faithful.map(([name, one]) => [
              name,
              one.comprehensiveness.mean[0]!,
              one.sufficiency.mean[0]!,
              one.area.mean[0]!,
            ])}
          />
          <Curves
            lines={faithful.map(([name, one]) => ({ name, values: one.curve }))}
            places={faithful[0]![1].curve.map((_, k, all) =>
              String(Math.round((100 * k) / (all.length - 1))),
            )}
            x="% of the tokens taken away"
            y="probability"
          />
        </section>
      )}
      {against.length > 0 && (
        <section aria-label="Examples">
          <h2>Examples</h2>
          <Sortable
            caption={`Correlation with ${against[0]}, last layer`}
            head={["example", "text", "target", ...methods]}
            rows={record.examples.map((one) => [
              String(one.line),
              one.tokens.join(" "),
              one.target.name,
              ...methods.map((method) => one.correlation[against[0]!]?.[method]?.at(-1) ?? null),
            ])}
          />
        </section>
      )}
    </Body>
  );
}

function flat(record: Record<string, unknown>, before = ""): [string, string][] {
  return Object.entries(record).flatMap(([name, value]): [string, string][] => {
    if (value && typeof value === "object" && !Array.isArray(value))
      return flat(value as Record<string, unknown>, `${before}${name}.`);
    if (Array.isArray(value)) return [[before + name, value.join(", ")]];
    return [[before + name, String(value)]];
  });
}

export function TableView({ item, Body }: { item: Table; Body: "main" | "div" }) {
  return (
    <Body class="evaluation">
      <section aria-label="Record">
        <div class="wide">
          <table class="numbers record">
            <caption class="away">{item.title}</caption>
            <tbody>
              {flat(item.record).map(([name, text]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </Body>
  );
}
