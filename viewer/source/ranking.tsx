// The values of a question as a table: sorted, searched, and read aloud.
import { h, useEffect, useRef, useState } from "./jsx";
import { abs, max } from "./numbers";
import { written } from "./scale";
import type { Session } from "./session";

export interface Ranked {
  unit: number;
  position: number; // of its first token
  label: string;
  value: number; // of A, in a comparison
  other: number | null; // of B
}

type Column = "position" | "label" | "value" | "other" | "gap";
const FIRST = 60; // lines that are shown before someone asks for all

export function ranked(session: Session): Ranked[] {
  const { asked: question, from, amounts: values } = session.answer;
  const answers = from ? session.inputUnits : session.outputUnits;
  const { unseen } = session.side(true);
  const [first, others] = session.bothLenses?.map((lens) => session.valuesOf(question, lens)) ?? [values];
  const out: Ranked[] = [];
  answers.members.forEach((tokens, unit) => {
    // A hidden output has no row, and so no value.
    if ((from && tokens.every((t) => unseen[t])) || isNaN(values[unit]!)) return;
    out.push({
      unit,
      position: tokens[0]!,
      label: answers.names[unit]!,
      value: first![unit]!,
      other: others?.[unit] ?? null,
    });
  });
  return out;
}

/** From the left; with signs from the middle, against to the left and for to the right. */
function barOf(share: number, signed: boolean) {
  const wide = (signed ? 50 : 100) * abs(share);
  return { width: `${wide}%`, marginLeft: `${signed ? 50 - (share < 0 ? wide : 0) : 0}%` };
}

export function Ranking({ session }: { session: Session }) {
  const [, redraw] = useState(0);
  const [chosen, setColumn] = useState<Column | null>(null);
  const [down, setDown] = useState(true);
  const [all, setAll] = useState(false);
  useEffect(() => {
    let timer = 0;
    // A moment after the pointer: sorting and drawing a table takes longer than a frame.
    const end = session.onHover(() => {
      clearTimeout(timer);
      timer = setTimeout(() => session.grids && redraw((count) => count + 1), 60);
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
  const names = session.compared?.panels.map((panel) => panel.label) ?? [];
  const shows = session.differs ? "gap" : names.length && state.show === "b" ? "other" : "value";
  const column = chosen ?? shows;
  const sought = state.search.toLowerCase();
  const cell = (row: Ranked, name: Column) => (name === "gap" ? row.value - row.other! : row[name]!);
  const sorted = rows
    .filter((row) => row.label.toLowerCase().includes(sought))
    .sort((a, b) => {
      const [x, y] = [cell(a, column), cell(b, column)];
      const order = typeof x === "string" ? x.localeCompare(y as string) : x - (y as number);
      return (down ? -order : order) || a.position - b.position;
    });
  const length = (row: Ranked) => cell(row, shows) as number;
  const most = rows.reduce((size, row) => max(size, abs(length(row))), 1e-30);
  const head = (name: Column, text: string) => (
    <th aria-sort={column === name ? (down ? "descending" : "ascending") : "none"} class={name}>
      <button
        onclick={() => {
          setDown(column === name ? !down : name !== "position" && name !== "label");
          setColumn(name);
        }}
      >
        {text}
        <span aria-hidden="true">{column === name ? (down ? "\u00a0\u2193" : "\u00a0\u2191") : ""}</span>
      </button>
    </th>
  );
  const shown = all ? sorted : sorted.slice(0, FIRST);
  const exact = session.lens.exact;
  const both = names.length > 0;
  const hit = session.cell?.column;
  return (
    <>
      <table class={both && "both"}>
        <caption class="away">{session.labelOf(answer.asked)}</caption>
        <thead>
          <tr>
            {head("position", "#")}
            {head("label", answer.from ? "Input" : "Output")}
            {head("value", both ? names[state.a]! : "Value")}
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
              class={hit === row.unit && answer.from && "hit"}
              onclick={(event) => session.pin(answer.from ? "to" : "from", row.unit, event.shiftKey)}
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
                  class={session.hasSigns && length(row) >= 0 && "positive"}
                  style={barOf(length(row) / most, session.hasSigns)}
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
