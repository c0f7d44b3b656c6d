// The scripts of a page: a core that every page holds, and parts that a page holds if one of its results needs them.
// They are bundled as one and then cut, so that a part has what is before it under the same short names.
import { readdirSync } from "node:fs";
import { build } from "esbuild";
import { internalNames } from "./names.mjs";

export const settings = {
  bundle: true,
  minify: true,
  target: "es2022",
  format: "iife",
  legalComments: "none",
  charset: "utf8",
  write: false,
  logLevel: "warning",
  jsxFactory: "h",
  jsxFragment: "null",
};

// In the order in which they run. `after` is there before it; `also`: what several parts take from it.
const PARTS = [
  { name: "core", entry: "source/main.ts", also: ["source/download.ts"], after: [] },
  { name: "result", entry: "source/parts/result.ts", also: ["source/patch_names.ts"], after: ["core"] },
  { name: "text", entry: "source/parts/text.ts", after: ["core", "result"] },
  { name: "picture", entry: "source/parts/picture.ts", after: ["core", "result"] },
  { name: "patches", entry: "source/parts/patches.ts", after: ["core", "result"] },
  { name: "layers", entry: "source/parts/layers.ts", after: ["core", "result"] },
  { name: "arcs", entry: "source/parts/arcs.ts", after: ["core", "result", "layers"] },
  { name: "compare", entry: "source/parts/compare.ts", after: ["core", "result"] },
  { name: "several", entry: "source/parts/several.ts", after: ["core"] },
  { name: "tables", entry: "source/parts/tables.ts", after: ["core"] },
];
// Parts with a style sheet of their own.
const STYLED = ["picture", "patches", "several", "layers", "arcs", "tables"];

const sources = readdirSync(new URL("source", import.meta.url), { recursive: true })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => `source/${name}`);

// The colours of the style sheets, which scripts name as "--paper" too, under one letter each.
const COLOURS = "paper back ink flip soft line accent fill one two three four five six for".split(" ");

function withShortColours(text) {
  return text.replace(/--([a-z]+)\b/g, (whole, name) =>
    COLOURS.includes(name) ? `--${"abcdefghijklmno"[COLOURS.indexOf(name)]}` : whole,
  );
}

async function built(entry, more = {}) {
  const result = await build({ ...settings, entryPoints: [entry], ...more });
  const text = withShortColours(result.outputFiles[0].text.trimEnd());
  // esbuild leaves the space before the value of a custom property, which says nothing.
  return { ...result, text: entry.endsWith(".css") ? text.replace(/(--\w+): /g, "$1:") : text };
}

// A statement that says where a part ends.
const cuts = {
  name: "cuts",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cut:/ }, ({ path }) => ({ path, namespace: "cut" }));
    onLoad({ filter: /./, namespace: "cut" }, () => ({ contents: "cut();" }));
  },
};

/** Whether each part only takes what it holds or what is there before it. */
function checkTaking(inputs) {
  const owners = new Map();
  const own = (file, part) => {
    if (owners.has(file)) return;
    owners.set(file, part);
    for (const { path } of inputs[file].imports) own(path, part);
  };
  for (const part of PARTS) for (const file of [...(part.also ?? []), part.entry]) own(file, part);
  for (const [file, part] of owners)
    for (const { path } of inputs[file].imports) {
      const other = owners.get(path);
      if (other !== part && !part.after.includes(other.name))
        throw new Error(
          `${file}: takes from ${path}, which is in the part ${other.name}; list it in "also" of a part that is always there before ${part.name}`,
        );
    }
}

// An element without attributes: esbuild writes null for them.
const withoutNulls = (text) => text.replace(/\b(\w+\("[a-z0-9]+"),null\b/g, "$1,0");

/** The scripts of all parts, by name. */
async function parts(define, mangle) {
  const contents = PARTS.flatMap(({ name, entry, also = [] }) => [
    ...[...also, entry].map((file) => `import "./${file}";`),
    `import "cut:${name}";`,
  ]).join("\n");
  const result = await build({
    ...settings,
    ...mangle,
    define,
    format: "esm", // the names at the top are those of all scripts
    metafile: true,
    stdin: { contents, resolveDir: process.cwd(), loader: "ts" },
    plugins: [cuts],
  });
  checkTaking(result.metafile.inputs);
  const text = withoutNulls(withShortColours(result.outputFiles[0].text.trimEnd()));
  const texts = text.split("cut();");
  if (texts.length !== PARTS.length + 1 || texts.at(-1)) throw new Error("the parts cannot be told apart");
  return Object.fromEntries(PARTS.map(({ name }, k) => [`${name}.js`, texts[k]]));
}

/** All files of viewer/built, by name. */
export async function all() {
  const mangle = { mangleProps: internalNames(sources), mangleCache: {} };
  const worker = await built("source/worker.ts", { ...mangle, format: "esm" });
  mangle.mangleCache = worker.mangleCache;
  const define = { WORKER: JSON.stringify(worker.text) };
  return {
    ...(await parts(define, mangle)),
    "loader.js": (await built("source/loader.js")).text,
    "style.css": (await built("source/style.css")).text,
    ...Object.fromEntries(
      await Promise.all(
        STYLED.map(async (part) => [`${part}.css`, (await built(`source/style/${part}.css`)).text]),
      ),
    ),
    "server.js": (await built("source/server/main.tsx", { define, ...mangle })).text,
    "server.css": (await built("source/server.css")).text,
  };
}
