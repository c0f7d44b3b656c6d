// A record of numbers and words as tables: what was found first, then what was asked.
import { h } from "./jsx";
import type { Evaluation, Table } from "./contract";
import { csvOf, download, escape, png } from "./download";
import { ink } from "./draw";
import { ExportMenu } from "./head";
import type { Session } from "./session";
import { type Cell, Sortable } from "./sortable";

const FIRST = ["text", "metrics", "prediction"];

type Fields = Record<string, unknown>;

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names and values of a record, and of the records in it. */
function flat(record: Fields, before = ""): [string, unknown][] {
  return Object.entries(record).flatMap(([name, value]): [string, unknown][] =>
    isRecord(value) ? flat(value, `${before}${name}.`) : [[before + name, value]],
  );
}

function textOf(value: unknown): string {
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(4)));
  return Array.isArray(value) ? value.map(textOf).join(", ") : String(value);
}

/** Lists that are as long as each other are columns of one table. */
function columnsOf(record: Fields): Map<number, [string, unknown[]][]> {
  const lists = flat({ ...record, ...(isRecord(record["choices"]) ? record["choices"] : {}) }).filter(
    (one): one is [string, unknown[]] => !one[0].includes(".") && Array.isArray(one[1]) && one[1].length > 1,
  );
  const found = new Map<number, [string, unknown[]][]>();
  for (const one of lists) found.set(one[1].length, [...(found.get(one[1].length) ?? []), one]);
  for (const [length, columns] of found) if (columns.length < 2) found.delete(length);
  return found;
}

function cellOf(value: unknown): Cell {
  return typeof value === "number" && !Number.isInteger(value) ? value : textOf(value);
}

export function TableView({ item, Body }: { item: Table; Body: "main" | "div" }) {
  const { record } = item;
  const columns = columnsOf(record);
  const inTables = new Set([...columns.values()].flatMap((lists) => lists.map(([name]) => name)));
  const plain: Fields = {};
  const groups: [string, Fields][] = [];
  for (const [name, value] of Object.entries(record)) {
    if (inTables.has(name) || name === "choices" || (Array.isArray(value) && !value.length)) continue;
    if (isRecord(value)) groups.push([name, value]);
    else plain[name] = value;
  }
  const place = (name: string) => FIRST.indexOf(name) + 1 || 9;
  const sections = [[item.title, plain] as [string, Fields], ...groups];
  sections.sort(([a], [b]) => place(a) - place(b));
  const table = ([name, fields]: [string, Fields]) => (
    <section key={name} aria-label={name}>
      <h2>{name}</h2>
      <div class="wide">
        <table class="numbers record">
          <caption class="away">{name}</caption>
          <tbody>
            {flat(fields).map(([field, value]) => (
              <tr key={field}>
                <th scope="row">{field.replace(/[._]/g, " ")}</th>
                <td title={String(value)}>{textOf(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
  const early = sections.filter(([name]) => FIRST.includes(name));
  return (
    <Body class="evaluation">
      {early.map(table)}
      {[...columns].map(([length, lists]) => (
        <section key={length} aria-label={`${length} tokens`}>
          <h2>{length} tokens</h2>
          <Sortable
            caption=""
            head={["#", ...lists.map(([name]) => name.replaceAll("_", " "))]}
            rows={Array.from({ length }, (_, k) => [String(k), ...lists.map(([, list]) => cellOf(list[k]))])}
          />
        </section>
      ))}
      {sections.slice(early.length).map(table)}
    </Body>
  );
}

/** Every table of the page, as it is sorted. A record has its values in full where the pointer finds them. */
function tablesCsv(root: Element): string {
  const tables = [...root.querySelectorAll("table")].map((table) => {
    const inFull = table.classList.contains("record");
    return csvOf([
      [table.caption?.textContent || table.closest("section")!.ariaLabel!],
      ...[...table.rows].map((row) =>
        [...row.cells].map((cell) => (inFull && cell.title) || cell.textContent!),
      ),
    ]);
  });
  return tables.join("\n");
}

/** Every curve of the page, with what its lines are, one below the other. */
function curvesSvg(root: Element): string {
  const drawn: string[] = [];
  let y = 10;
  for (const figure of root.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg")!;
    const { width, height } = svg.viewBox.baseVal;
    const copy = svg.cloneNode(true) as SVGElement;
    const originals = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((element, k) => {
      const seen = getComputedStyle(originals[k]!);
      for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size"])
        element.setAttribute(name, seen.getPropertyValue(name));
    });
    const title = figure.closest("section")!.ariaLabel!;
    drawn.push(`<text x="10" y="${y + 10}" font-size="13" fill="${ink("--ink")}">${escape(title)}</text>`);
    drawn.push(`<svg x="0" y="${y + 16}" width="${width}" height="${height}">${copy.innerHTML}</svg>`);
    figure.querySelectorAll<HTMLElement>(".key").forEach((key, k) => {
      const { borderTopColor, borderTopStyle } = getComputedStyle(key.firstElementChild!);
      const [x, top] = [46 + 170 * (k % 3), y + height + 32 + 16 * Math.floor(k / 3)];
      const dash = borderTopStyle === "dashed" ? ' stroke-dasharray="5 4"' : "";
      drawn.push(
        `<path d="M${x} ${top - 4}h18" stroke-width="2" stroke="${borderTopColor}"${dash}/>`,
        `<text x="${x + 24}" y="${top}" font-size="12" fill="${ink("--ink")}">${escape(key.textContent!)}</text>`,
      );
    });
    y += height + 60 + 16 * Math.floor(figure.querySelectorAll(".key").length / 3);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="580" height="${y}" viewBox="0 0 580 ${y}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${ink("--paper")}"/>${drawn.join("")}</svg>\n`;
}

const NUMBERS = [
  ["csv", "Tables, CSV"],
  ["json", "Record, JSON"],
] as const;
const CURVES = [
  ["svg", "Curves, SVG"],
  ["png", "Curves, PNG"],
] as const;

/** What a page of tables can be saved as. */
export function Records({ session }: { session: Session }) {
  const { record, kind } = session.item as Table | Evaluation;
  const root = () => document.getElementById(`${session.place.name}tables`)!;
  const makers = {
    csv: () => tablesCsv(root()),
    json: () => JSON.stringify(record, null, 1) + "\n",
    svg: () => curvesSvg(root()),
    png: () => png(curvesSvg(root())),
  };
  return (
    <ExportMenu
      session={session}
      formats={kind === "evaluation" ? [...CURVES, ...NUMBERS] : NUMBERS}
      save={async (format) => download(await makers[format](), `${kind}.${format}`)}
    />
  );
}
