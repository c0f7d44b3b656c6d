// The values of a question as a table: sorted, searched, and read aloud.
import { Fragment, h, useEffect, useRef, useState } from "./jsx";
import { written } from "./scale";
import type { Session } from "./session";

export interface Ranked {
  unit: number;
  position: number; // of its first token
  label: string;
  value: number;
  other: number | null; // of the second panel
}

type Column = "position" | "label" | "value" | "other" | "gap";
const FIRST = 60; // lines that are shown before someone asks for all

export function ranked(session: Session): Ranked[] {
  const { question, values } = session.answer;
  const answers = session.units(question.ask === "from" ? session.one.inputs : session.outputs);
  const { hidden } = session.side(true);
  const other = session.otherLens;
  const others = other ? session.valuesOf(question, other) : null;
  const first = session.difference ? session.valuesOf(question, session.firstLens) : values;
  const out: Ranked[] = [];
  answers.tokens.forEach((tokens, unit) => {
    // A hidden output has no row, and so no value.
    if ((question.ask === "from" && tokens.every((t) => hidden[t])) || Number.isNaN(values[unit]!)) return;
    if (
      question.ask === "from" &&
      session.one.columns &&
      !tokens.some((t) => session.one.columns!.includes(t))
    )
      return;
    out.push({
      unit,
      position: tokens[0]!,
      label: answers.labels[unit]!,
      value: first[unit]!,
      other: others ? others[unit]! : null,
    });
  });
  return out;
}

/** From the left; with signs from the middle, against to the left and for to the right. */
function barOf(share: number, signed: boolean) {
  const wide = (signed ? 50 : 100) * Math.abs(share);
  return { width: `${wide}%`, marginLeft: `${signed ? 50 - (share < 0 ? wide : 0) : 0}%` };
}

export function Ranking({ session }: { session: Session }) {
  const [, redraw] = useState(0);
  const [column, setColumn] = useState<Column>("value");
  const [down, setDown] = useState(true);
  const [all, setAll] = useState(false);
  useEffect(() => {
    let timer = 0;
    // A moment after the pointer: sorting and drawing a table takes longer than a frame.
    const end = session.onHover(() => {
      clearTimeout(timer);
      timer = window.setTimeout(() => session.grids && redraw((count) => count + 1), 60);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [session]);
  const { answer, state } = session;
  const last = useRef<{ of: object; rows: Ranked[] } | null>(null);
  if (last.current?.of !== answer) last.current = { of: answer, rows: ranked(session) };
  const { rows } = last.current;
  const names = session.comparison?.panels.map((panel) => panel.label) ?? [];
  const sought = state.search.toLowerCase();
  const key = (row: Ranked): number | string =>
    column === "gap" ? row.value - (row.other ?? 0) : column === "other" ? (row.other ?? 0) : row[column];
  const sorted = rows
    .filter((row) => row.label.toLowerCase().includes(sought))
    .sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      const order = typeof x === "string" ? x.localeCompare(y as string) : x - (y as number);
      return (down ? -order : order) || a.position - b.position;
    });
  const length = (row: Ranked) => (session.difference ? row.value - row.other! : row.value);
  const most = rows.reduce((size, row) => Math.max(size, Math.abs(length(row))), 1e-30);
  const head = (name: Column, text: string) => (
    <th aria-sort={column === name ? (down ? "descending" : "ascending") : "none"} class={name}>
      <button
        onclick={() => {
          setDown(column === name ? !down : name !== "position" && name !== "label");
          setColumn(name);
        }}
      >
        {text}
        <span aria-hidden="true">{column === name ? (down ? " \u2193" : " \u2191") : ""}</span>
      </button>
    </th>
  );
  const shown = all ? sorted : sorted.slice(0, FIRST);
  const exact = session.lens.exact;
  const both = names.length > 0;
  const hit = session.cell?.column;
  return (
    <>
      <table>
        <caption class="away">{session.labelOf(answer.question)}</caption>
        <thead>
          <tr>
            {head("position", "#")}
            {head("label", answer.question.ask === "from" ? "Input" : "Output")}
            {head("value", both ? names[state.show === "b" ? state.b : state.a]! : "Value")}
            {both && head("other", names[state.b]!)}
            {both && head("gap", "Difference")}
            <th class="bar">
              <span class="away">Bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr
              key={row.unit}
              class={hit === row.unit && answer.question.ask === "from" ? "hit" : ""}
              onclick={(event) =>
                session.pin(answer.question.ask === "from" ? "to" : "from", row.unit, event.shiftKey)
              }
            >
              <td class="position">{row.position}</td>
              <th scope="row" dir="auto">
                {row.label}
              </th>
              <td>{written(row.value, exact)}</td>
              {both && <td>{written(row.other!, exact)}</td>}
              {both && <td>{written(row.value - row.other!, exact)}</td>}
              <td class="bar" aria-hidden="true">
                <span
                  class={session.signed ? (length(row) < 0 ? "negative" : "positive") : ""}
                  style={barOf(length(row) / most, session.signed)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < sorted.length && (
        <button class="more" onclick={() => setAll(true)}>
          Show all {sorted.length}
        </button>
      )}
      {sorted.length === 0 && <p class="empty">Nothing matches.</p>}
    </>
  );
}
