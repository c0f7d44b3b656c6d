// From values to shades, and from shades to colours.
import { upTo } from "./arrays";
import { abs, clamp, floor, log10, max, min, placeAfter, round } from "./numbers";

export const SCALES = ["linear", "log", "rank"] as const;
export type ScaleKind = (typeof SCALES)[number];

const DECADES = 4; // of the logarithmic scale

export interface Shade {
  kind: ScaleKind;
  most: number; // the value of the darkest colour
  of(value: number): number; // -1 to 1; the sign is the value's
}

/** A scale for these values. A rank counts among the sizes of the values that are not 0. */
export function shadeFor(kind: ScaleKind, values: Float32Array): Shade {
  const most = values.reduce((most, value) => max(most, abs(value)), 0);
  if (kind === "linear") return { kind, most, of: (value) => (most ? value / most : 0) };
  const sorted = kind === "rank" ? values.map(abs).filter(Boolean).sort() : values;
  const share = (size: number) =>
    kind === "log"
      ? clamp(1 + log10(size / most) / DECADES, 0, 1)
      : placeAfter(sorted.length, (k) => sorted[k]! <= Math.fround(size)) / sorted.length;
  return { kind, most, of: (value) => (most && value ? Math.sign(value) * share(abs(value)) : 0) };
}

type Colour = [number, number, number];

const STEPS = 255;
const BLEND = 0.6; // the share of the scale over which the paper gives way
const CIVIDIS = colours("00224e 083370 35456c 4f576c 666970 7d7c78 948e77 aea371 c8b866 e5cf52 fee838");

function colours(hex: string): Colour[] {
  return hex.split(" ").map((one) => {
    const bits = parseInt(one, 16);
    return [bits >> 16, (bits >> 8) & 255, bits & 255];
  });
}

const mixed = (a: Colour, b: Colour, share: number): Colour =>
  a.map((part, k) => part + (b[k]! - part) * share) as Colour;

/** The colour at a share of the way through these, which are evenly apart. */
function along(through: Colour[], share: number): Colour {
  const place = clamp(share, 0, 1) * (through.length - 1);
  const low = min(floor(place), through.length - 2);
  return mixed(through[low]!, through[low + 1]!, place - low);
}

export interface Palette {
  /** 511 pixels: shades -255 to 255. */
  table: Uint32Array;
  css(shade: number): string;
  /** Whether text on this shade needs the other colour of text. */
  flips(shade: number): boolean;
}

/** The entry of a shade in a palette's table. */
export const stepOf = (shade: number) => round(clamp(shade, -1, 1) * STEPS) + STEPS;

/** Without signs: cividis, which starts at the colour of the paper. With signs: blue below, red above. */
export function palette(dark: boolean, withSigns: boolean): Palette {
  const below = colours(dark ? "15181d 1f5a9e 6fb1ff" : "ffffff 8ab8e6 14508f");
  const above = colours(dark ? "15181d 9c2a3a ff8f8f" : "ffffff f2a08f a8152b");
  const steps = upTo(2 * STEPS + 1).map((step) => {
    const shade = step / STEPS - 1;
    const size = abs(shade);
    if (withSigns) return along(shade < 0 ? below : above, size);
    return mixed(below[0]!, along(CIVIDIS, dark ? size : 1 - size), min(1, size / BLEND));
  });
  const bytes = steps.flatMap((colour) => [...colour.map(round), 255]);
  return {
    table: new Uint32Array(Uint8Array.from(bytes).buffer),
    css: (shade) => `rgb(${steps[stepOf(shade)]!.map(round).join(" ")})`,
    flips(shade) {
      const light = luminance(steps[stepOf(shade)]!);
      return dark ? light > 0.18 : light < 0.18;
    },
  };
}

function luminance(colour: Colour): number {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Colour;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Three digits, or fewer where a page does not hold them. */
export function written(value: number, exact = true): string {
  if (value === 0) return "0";
  const digits = exact ? 3 : 2;
  const size = abs(value);
  if (size >= 1e-3 && size < 1e4) return `${+value.toPrecision(digits)}`;
  return value
    .toExponential(digits - 1)
    .replace("e-", "e\u2212")
    .replace("e+", "e");
}
