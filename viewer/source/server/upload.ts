// A file that was dropped or chosen, as the server takes it.
import type { Upload } from "./draft";

const MOST = 45e6; // bytes; as base64, what the server takes

export async function read(file: File): Promise<Upload> {
  if (file.size > MOST)
    throw new Error(
      `${file.name}: has ${(file.size / 1e6).toFixed(0)} MB, this page takes ${MOST / 1e6}. Use the command for it.`,
    );
  const kind = file.type.startsWith("image/") ? "image" : "file";
  const uri = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(`${file.name}: could not be read.`));
    reader.readAsDataURL(file);
  });
  return { kind, name: file.name, data: uri.slice(uri.indexOf(",") + 1) };
}
