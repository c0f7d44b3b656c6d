// From base64 and gzip to bytes.
import type { Packed } from "./contract";
import { type Grid, gridOf } from "./grid";

type WithBase64 = typeof Uint8Array & { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const quick = (Uint8Array as WithBase64).fromBase64;
  if (quick) return quick.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes;
}

async function gunzip(base64: string): Promise<ArrayBuffer> {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

export async function unpack(packed: Packed, withSigns: boolean): Promise<Grid> {
  const [scale, data] = await Promise.all([gunzip(packed.scale), gunzip(packed.data)]);
  return gridOf(packed, new Float32Array(scale), new Uint8Array(data), withSigns);
}
