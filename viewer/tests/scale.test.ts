import assert from "node:assert/strict";
import { test } from "node:test";
import { palette } from "../source/scale";

/** Of a colour of three bytes, as WCAG has it. */
function luminance(colour: number[]): number {
  const [r, g, b] = colour.map((byte) => {
    const share = byte / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

test("text can be read on every shade, in black or in white", () => {
  for (const dark of [false, true])
    for (const withSigns of [false, true]) {
      const colours = palette(dark, withSigns);
      for (let step = withSigns ? -255 : 0; step <= 255; step++) {
        const light = luminance(
          colours
            .css(step / 255)
            .match(/\d+/g)!
            .map(Number),
        );
        const isWhite = dark !== colours.flips(step / 255);
        const contrast = isWhite ? 1.05 / (light + 0.05) : (light + 0.05) / 0.05;
        assert.ok(contrast >= 4.5, `dark ${dark}, signs ${withSigns}, shade ${step}: ${contrast}`);
      }
    }
});
