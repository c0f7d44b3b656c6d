// From base64 and gzip to numbers.
import type { Packed } from "./contract";
import { type Grid, gridOf } from "./grid";

declare const gunzip: (base64: string) => Response; // loader.js has it

export async function unpack(packed: Packed, withSigns: boolean): Promise<Grid> {
  const [scale, data] = await Promise.all([
    gunzip(packed.scale).arrayBuffer(),
    gunzip(packed.data).arrayBuffer(),
  ]);
  return gridOf(packed, new Float32Array(scale), new Uint8Array(data), withSigns);
}
