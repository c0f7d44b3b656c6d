// A table that sorts by any of its columns.
import { h, useState } from "./jsx";

export type Cell = string | number | null;

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
                  <span aria-hidden="true">{by === k ? (down ? "\u00a0\u2193" : "\u00a0\u2191") : ""}</span>
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
