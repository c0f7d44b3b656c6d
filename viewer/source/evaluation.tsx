// The tables and curves of evaluate.
import { h } from "./jsx";
import type { Evaluation, Spreads } from "./contract";
import { Curves } from "./curves";
import { type Cell, Sortable } from "./sortable";

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
            x="% of tokens removed"
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
              one.tokens.join(" ").replaceAll(" ##", ""), // pieces of a word
              one.target.name,
              ...methods.map((method) => one.correlation[against[0]!]?.[method]?.at(-1) ?? null),
            ])}
          />
        </section>
      )}
    </Body>
  );
}
