// What is seen, as a file.
import { legendOfAll, legendOfAnswer, meaningOf } from "./controls";
import { csvOf, download, escape, png } from "./download";
import { ink } from "./draw";
import { max } from "./numbers";
import type { MatrixView } from "./matrix";
import type { PictureView } from "./picture";
import { ranked } from "./ranking";
import type { Session } from "./session";
import { toHash } from "./state";
import type { TextView } from "./text";

export interface Views {
  texts: TextView[];
  matrix: MatrixView;
  picture: PictureView | null;
}

export function rankingCsv(session: Session): string {
  const rows = ranked(session).sort((a, b) => b.value - a.value);
  const names = session.compared?.panels.map((panel) => panel.label);
  const head = names
    ? ["position", "token", names[session.state.a]!, names[session.state.b]!]
    : ["position", "token", "value"];
  const lines = rows.map((row) => [row.position, row.label, row.value, ...(names ? [row.other!] : [])]);
  return csvOf([head, ...lines]);
}

export function matrixCsv(session: Session): string {
  const { lens } = session;
  const inputs = session.inputUnits.names;
  const outputs = session.outputUnits.names;
  const lines: (string | number)[][] = [["", ...inputs]];
  for (let r = 0; r < lens.high; r++) {
    const unit = lens.rowUnits[r]!;
    lines.push([unit < 0 ? "mean" : outputs[unit]!, ...lens.row(r)]);
  }
  return csvOf(lines);
}

export function json(session: Session): string {
  const { answer, one } = session;
  return JSON.stringify(
    {
      headwater: session.page.headwater,
      method: one.method,
      options: one.options,
      view: toHash(session.state),
      ...(session.compared && {
        panels: [session.panel(session.state.a)!.label, session.panel(session.state.b)!.label],
      }),
      question: { ask: answer.asked.ask, of: session.labelOf(answer.asked) },
      values: ranked(session).map(({ position, label, value, other }) => ({
        position,
        token: label,
        value,
        ...(other === null ? {} : { other }),
      })),
      notes: one.notes,
    },
    null,
    1,
  );
}

/** The text and the matrix, one below the other, each with what its colours stand for. */
export function svg(session: Session, views: Views): string {
  const parts: string[] = [];
  const pad = 20;
  let y = pad;
  let wide = 640;
  const write = (text: string, x: number, more = "") =>
    parts.push(`<text x="${x}" y="${y + 4}" ${more}>${escape(text)}</text>`);
  const legend = (meaning: Parameters<typeof meaningOf>[0]) => {
    const { stops, low, most, about } = meaningOf(meaning);
    stops.forEach((fill, k) =>
      parts.push(`<rect x="${pad + 6 * k}" y="${y - 5}" width="6.5" height="10" fill="${fill}"/>`),
    );
    write(`${low} to ${most} ${about}`, pad + 112);
    y += pad;
  };
  const image = (canvas: HTMLCanvasElement) => {
    const { clientWidth, clientHeight } = canvas;
    parts.push(
      `<image x="${pad}" y="${y}" width="${clientWidth}" height="${clientHeight}" href="${canvas.toDataURL()}"/>`,
    );
    wide = max(wide, clientWidth + 2 * pad);
    y += clientHeight + pad;
  };
  write(`${session.item.title}: ${session.labelOf(session.answer.asked)}`, pad, 'font-weight="600"');
  y += 24;
  legend(legendOfAnswer(session));
  if (views.picture) image(views.picture.canvas);
  else
    for (const text of views.texts) {
      const picture = text.picture();
      for (const box of picture.boxes) {
        const place = `x="${box.x + pad}" y="${box.y + y}"`;
        parts.push(
          `<rect ${place} width="${box.wide}" height="${box.high}" rx="3" fill="${box.fill}" stroke="${box.edge}"/>`,
          `<text ${place} dy="${0.76 * box.high}" font-size="16" fill="${box.ink}" textLength="${box.wide}">${escape(box.text)}</text>`,
        );
      }
      wide = max(wide, picture.wide + 2 * pad);
      y += picture.high + pad;
    }
  const shade = views.matrix.shade();
  if (shade && views.matrix.canvas.clientWidth) {
    image(views.matrix.canvas);
    legend(legendOfAll(session, shade));
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${y}" viewBox="0 0 ${wide} ${y}" font-family="sans-serif" font-size="13" fill="${ink("--ink")}" style="white-space:pre"><rect width="100%" height="100%" fill="${ink("--paper")}"/>${parts.join("")}</svg>\n`;
}

export const FORMATS = [
  ["svg", "Picture, SVG"],
  ["png", "Picture, PNG"],
  ["csv", "Ranking, CSV"],
  ["matrix.csv", "Matrix, CSV"],
  ["json", "Ranking, JSON"],
] as const;
export type Format = (typeof FORMATS)[number][0];

export async function save(session: Session, views: Views, format: Format): Promise<void> {
  const makers: Record<Format, () => string | Promise<Blob>> = {
    svg: () => svg(session, views),
    png: () => png(svg(session, views)),
    csv: () => rankingCsv(session),
    "matrix.csv": () => matrixCsv(session),
    json: () => json(session),
  };
  download(await makers[format](), `${session.one.method}.${format}`);
}
