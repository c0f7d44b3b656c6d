// From values to shades, and from shades to colours.

export const SCALES = ["linear", "log", "rank"] as const;
export type ScaleKind = (typeof SCALES)[number];

const DECADES = 4; // of the logarithmic scale

export interface Shade {
  kind: ScaleKind;
  most: number; // the value of the darkest colour
  of(value: number): number; // -1 to 1; the sign is the value's
}

function largest(values: ArrayLike<number>): number {
  let most = 0;
  for (let k = 0; k < values.length; k++) most = Math.max(most, Math.abs(values[k]!));
  return most;
}

/** A scale for these values. A rank counts among the sizes of the values that are not 0. */
export function shadeFor(kind: ScaleKind, values: ArrayLike<number>): Shade {
  const most = largest(values);
  if (most === 0) return { kind, most, of: () => 0 };
  if (kind === "linear") return { kind, most, of: (value) => value / most };
  if (kind === "log")
    return {
      kind,
      most,
      of: (value) => {
        const size = 1 + Math.log10(Math.abs(value) / most) / DECADES;
        return value === 0 ? 0 : Math.sign(value) * Math.min(1, Math.max(0, size));
      },
    };
  const sizes = Float32Array.from(values as ArrayLike<number>, Math.abs)
    .filter((size) => size > 0)
    .sort();
  return {
    kind,
    most,
    of: (value) => {
      if (value === 0) return 0;
      const size = Math.fround(Math.abs(value));
      let low = 0;
      let high = sizes.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (sizes[middle]! <= size) low = middle + 1;
        else high = middle;
      }
      return (Math.sign(value) * low) / sizes.length;
    },
  };
}

type Colour = [number, number, number];

const CIVIDIS = "00224e 083370 35456c 4f576c 666970 7d7c78 948e77 aea371 c8b866 e5cf52 fee838";
const anchors = CIVIDIS.split(" ").map(fromHex);

function fromHex(hex: string): Colour {
  const bits = parseInt(hex, 16);
  return [bits >> 16, (bits >> 8) & 255, bits & 255];
}

function mixed(a: Colour, b: Colour, share: number): Colour {
  return [0, 1, 2].map((k) => a[k]! + (b[k]! - a[k]!) * share) as Colour;
}

function cividis(share: number): Colour {
  const place = Math.min(Math.max(share, 0), 1) * (anchors.length - 1);
  const low = Math.min(Math.floor(place), anchors.length - 2);
  return mixed(anchors[low]!, anchors[low + 1]!, place - low);
}

export interface Palette {
  /** 511 entries of red, green, blue: shades -255 to 255. */
  table: Uint8Array;
  css(shade: number): string;
  /** Whether text on this shade needs the other colour of text. */
  flips(shade: number): boolean;
}

const STEPS = 255;
const BLEND = 0.6; // the share of the scale over which the paper gives way

/** Without signs: cividis, which starts at the colour of the paper. With signs: blue below, red above. */
export function palette(dark: boolean, withSigns: boolean): Palette {
  const paper = fromHex(dark ? "15181d" : "ffffff");
  const table = new Uint8Array(3 * (2 * STEPS + 1));
  const flip = new Uint8Array(2 * STEPS + 1);
  const strings: string[] = [];
  for (let step = -STEPS; step <= STEPS; step++) {
    const size = Math.abs(step) / STEPS;
    let colour: Colour;
    if (withSigns) {
      const ends = dark ? ["6fb1ff", "ff8f8f"] : ["14508f", "a8152b"];
      const middle = dark ? ["1f5a9e", "9c2a3a"] : ["8ab8e6", "f2a08f"];
      const side = step < 0 ? 0 : 1;
      const half = fromHex(middle[side]!);
      colour = size < 0.5 ? mixed(paper, half, 2 * size) : mixed(half, fromHex(ends[side]!), 2 * size - 1);
    } else {
      colour = mixed(paper, cividis(dark ? size : 1 - size), Math.min(1, size / BLEND));
    }
    const light = luminance(colour);
    flip[step + STEPS] = (dark ? light > 0.18 : light < 0.18) ? 1 : 0;
    const bytes = colour.map(Math.round);
    table.set(bytes, 3 * (step + STEPS));
    strings.push(`rgb(${bytes.join(" ")})`);
  }
  const index = (shade: number) => Math.round(Math.min(1, Math.max(-1, shade)) * STEPS) + STEPS;
  return {
    table,
    css: (shade) => strings[index(shade)]!,
    flips: (shade) => flip[index(shade)] === 1,
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
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e4) return String(Number(value.toPrecision(digits)));
  return value
    .toExponential(digits - 1)
    .replace("e-", "e\u2212")
    .replace("e+", "e");
}
