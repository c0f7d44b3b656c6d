// Builds viewer/built, which is committed: `node build.mjs`. With --check, compares instead. With --test, builds the
// unit tests into the folder that is named.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { all, settings } from "./bundles.mjs";

const ALWAYS = ["core", "style", "loader"];
const MOST = 60000; // bytes of script and style in any page, minified
// Parts of a page, and the most bytes of script and style that it has had so far.
const PAGES = {
  "a text": [["result", "text"], 47200],
  "an image": [["result", "picture"], 44600],
  "an evaluation": [["tables"], 34700],
  "a comparison of texts": [["result", "text", "compare"], 48300],
  "a text, with its layers": [["result", "text", "layers"], 54900],
  "a text, with its layers and the cut of a flow": [["result", "text", "layers", "arcs"], 57000],
  "several prompts with images, their layers and the cuts of flows": [
    ["result", "text", "patches", "layers", "arcs", "several"],
    MOST,
  ],
  "the demo": [["result", "text", "picture", "layers", "compare", "several"], MOST],
};

process.chdir(new URL(".", import.meta.url).pathname);
const [flag, folder] = process.argv.slice(2);
if (flag === "--test") {
  mkdirSync(folder, { recursive: true });
  const entries = readdirSync("tests").map((name) => `tests/${name}`);
  await build({
    ...settings,
    minify: false,
    format: "esm",
    platform: "node",
    entryPoints: entries,
    outdir: folder,
    write: true,
    outExtension: { ".js": ".mjs" },
  });
} else {
  const files = await all();
  let wrong = 0;
  for (const [name, text] of Object.entries(files)) {
    // "</script" would end the element that holds it.
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name}: would end its own element`);
    if (flag === "--check") {
      const same = readFileSync(`built/${name}`, "utf8") === text;
      if (!same)
        console.log(
          `viewer/built/${name}: differs from what viewer/source builds; run node viewer/build.mjs`,
        );
      wrong += same ? 0 : 1;
    } else writeFileSync(`built/${name}`, text);
  }
  const size = (part) => Buffer.byteLength((files[`${part}.js`] ?? "") + (files[`${part}.css`] ?? ""));
  for (const [page, [parts, most]] of Object.entries(PAGES)) {
    const bytes = [...ALWAYS, ...parts].reduce((sum, part) => sum + size(part), 0);
    console.log(`viewer: ${bytes} bytes of script and style in the page of ${page}`);
    if (bytes > most) throw new Error(`${bytes} bytes in the page of ${page}, at most ${most}`);
  }
  process.exitCode = wrong ? 1 : 0;
}
