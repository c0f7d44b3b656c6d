// What is seen, as a file.
import { csvLine, download, escape, png } from "./download";
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
  return [head, ...lines].map(csvLine).join("\n") + "\n";
}

export function matrixCsv(session: Session): string {
  const { lens } = session;
  const inputs = session.inputUnits.labels;
  const outputs = session.outputUnits.labels;
  const lines = [csvLine(["", ...inputs])];
  for (let r = 0; r < lens.rows; r++) {
    const unit = lens.rowUnits[r]!;
    lines.push(csvLine([unit < 0 ? "mean" : outputs[unit]!, ...lens.row(r)]));
  }
  return lines.join("\n") + "\n";
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
      question: { ask: answer.question.ask, of: session.labelOf(answer.question) },
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

/** The text and the matrix, one below the other. */
export function svg(session: Session, views: Views): string {
  const parts: string[] = [];
  const pad = 20;
  let y = pad + 20;
  let wide = 640;
  const heading = `${session.item.title}: ${session.labelOf(session.answer.question)}`;
  parts.push(
    `<text x="${pad}" y="${pad + 4}" font-size="15" font-weight="600" fill="${ink("ink")}">${escape(heading)}</text>`,
  );
  const image = (canvas: HTMLCanvasElement) => {
    const { clientWidth, clientHeight } = canvas;
    parts.push(
      `<image x="${pad}" y="${y}" width="${clientWidth}" height="${clientHeight}" href="${canvas.toDataURL()}"/>`,
    );
    wide = max(wide, clientWidth + 2 * pad);
    y += clientHeight + pad;
  };
  if (views.picture) image(views.picture.canvas);
  else
    for (const text of views.texts) {
      const picture = text.picture();
      for (const box of picture.boxes) {
        const left = box.x + pad;
        const top = box.y + y;
        if (box.fill !== "none")
          parts.push(
            `<rect x="${left}" y="${top}" width="${box.width}" height="${box.height}" rx="3" fill="${box.fill}"/>`,
          );
        parts.push(
          `<text x="${left}" y="${top + 0.76 * box.height}" font-size="16" fill="${box.ink}" textLength="${box.width}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">${escape(box.text)}</text>`,
        );
      }
      wide = max(wide, picture.width + 2 * pad);
      y += picture.height + pad;
    }
  if (views.matrix.canvas.clientWidth) image(views.matrix.canvas);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${y}" viewBox="0 0 ${wide} ${y}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${ink("paper")}"/>${parts.join("")}</svg>\n`;
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
