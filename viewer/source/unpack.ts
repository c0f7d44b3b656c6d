// From base64 and gzip to numbers.
import type { Packed } from "./contract";
import { type Grid, gridOf } from "./grid";

declare const gunzip: (base64: string) => Response; // loader.js has it

export async function unpack(packed: Packed, withSigns: boolean): Promise<Grid> {
  const scale = await gunzip(packed.scale).arrayBuffer();
  const data = await gunzip(packed.data).arrayBuffer();
  return gridOf(packed, new Float32Array(scale), new Uint8Array(data), withSigns);
}
