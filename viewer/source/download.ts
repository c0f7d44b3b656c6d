// Files that a page makes, and gives to the browser to save.
import { made } from "./draw";

/** A comma-separated file. */
export function csvOf(lines: (string | number)[][]): string {
  const quoted = (cell: string | number) =>
    /[",\n]/.test(`${cell}`) ? `"${`${cell}`.replace(/"/g, '""')}"` : cell;
  return lines.map((cells) => cells.map(quoted).join(",") + "\n").join("");
}

export const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The picture in dots, two for each of its own. */
export async function png(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
  await image.decode();
  const canvas = made("canvas");
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("too large for a picture"))),
      "image/png",
    ),
  );
}

export function download(file: string | Blob, name: string): void {
  const blob = typeof file === "string" ? new Blob([file], { type: "text/plain" }) : file;
  const link = made("a");
  link.href = URL.createObjectURL(blob);
  link.download = `headwater-${name}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
