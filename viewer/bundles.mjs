// The scripts of a page: a core that every page holds, and parts that a page holds if one of its results needs them.
// A part takes what it shares with the core, or with another part that is always there before it, from a variable.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
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
  jsxFragment: "Fragment",
};

// In the order in which they run. `after` is there before it.
const PARTS = [
  { name: "core", entry: "source/main.ts", as: "hw", after: [] },
  { name: "result", entry: "source/parts/result.ts", as: "hv", after: ["core"] },
  { name: "text", entry: "source/parts/text.ts", after: ["core", "result"] },
  { name: "picture", entry: "source/parts/picture.ts", after: ["core", "result"] },
  { name: "patches", entry: "source/parts/patches.ts", after: ["core", "result"] },
  { name: "layers", entry: "source/parts/layers.ts", as: "hl", after: ["core", "result"] },
  { name: "arcs", entry: "source/parts/arcs.ts", after: ["core", "result", "layers"] },
  { name: "compare", entry: "source/parts/compare.ts", after: ["core", "result"] },
  { name: "several", entry: "source/parts/several.ts", after: ["core"] },
  { name: "tables", entry: "source/parts/tables.ts", after: ["core"] },
];

const sources = readdirSync(new URL("source", import.meta.url), { recursive: true })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => `source/${name}`);

/** The file that an import in `file` means. */
function target(file, path) {
  const base = join(dirname(file), path);
  return sources.find((name) => name === `${base}.ts` || name === `${base}.tsx`);
}

/** What a file takes from others: [file, name], types left out. */
function imports(file) {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^import \{([^}]*)\} from "(\.[^"]*)";/gms)].flatMap(([, names, path]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name && !name.startsWith("type "))
      .map((name) => [target(file, path), name]),
  );
}

async function built(entry, more = {}) {
  const result = await build({ ...settings, entryPoints: [entry], ...more });
  return { ...result, text: result.outputFiles[0].text.trimEnd() };
}

// What parts share has short names in the variables that hold it.
const shorts = new Map();
function shortOf(name) {
  if (!shorts.has(name)) shorts.set(name, `$${shorts.size.toString(36)}`);
  return shorts.get(name);
}

/** Takes the files of other parts from their variables. */
function shared(owners) {
  return {
    name: "shared",
    setup({ onLoad }) {
      onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
        const owner = owners.get(relative(process.cwd(), path));
        const taken = owner && [...owner.names].map((name) => `${shortOf(name)}: ${name}`);
        return owner && { contents: `export const { ${taken.join(", ")} } = ${owner.as};` };
      });
    },
  };
}

/** The file, and all that it takes from, in turn. */
function reached(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [other] of imports(file)) reached(other, seen);
  return seen;
}

/** The scripts of all parts, by name. */
async function parts(define, mangle) {
  const files = new Map(); // of each part
  const owned = new Map(); // the part of a file that others may share
  for (const { name, entry, as, after } of PARTS) {
    const own = [...reached(entry)].filter((file) => !after.includes(owned.get(file)));
    files.set(name, own);
    if (as) for (const file of own) owned.set(file, name);
  }
  const out = {};
  const taken = (part, user) => {
    const found = new Map();
    for (const file of files.get(user))
      for (const [from, name] of imports(file))
        if (owned.get(from) === part) found.set(from, (found.get(from) ?? new Set()).add(name));
    return found;
  };
  for (const { name, entry, as, after } of PARTS) {
    const owners = new Map();
    for (const part of after) {
      const { as: variable } = PARTS.find((one) => one.name === part);
      for (const [file, names] of taken(part, name)) owners.set(file, { names, as: variable });
    }
    const given = PARTS.filter((one) => one.after.includes(name)).flatMap((one) => [
      ...taken(name, one.name),
    ]);
    const names = new Map(given.flatMap(([file, taken]) => [...taken].map((one) => [one, file])));
    const lines = [...names].map(([one, file]) => `import { ${one} } from "./${file}";`);
    const record = [...names.keys()].map((one) => `${shortOf(one)}: ${one}`);
    const contents = [`import "./${entry}";`, ...lines, as ? `globalThis.${as} = { ${record} };` : ""].join(
      "\n",
    );
    const result = await build({
      ...settings,
      ...mangle,
      define,
      stdin: { contents, resolveDir: process.cwd(), loader: "ts" },
      plugins: [shared(owners)],
    });
    mangle.mangleCache = result.mangleCache; // the same short names in all of them
    out[name] = result.outputFiles[0].text.trimEnd();
  }
  return out;
}

/** All files of viewer/built, by name. */
export async function all() {
  const mangle = { mangleProps: internalNames(sources), mangleCache: {} };
  const worker = await built("source/worker.ts", mangle);
  mangle.mangleCache = worker.mangleCache;
  const define = { WORKER: JSON.stringify(worker.text) };
  const scripts = Object.entries(await parts(define, mangle)).map(([name, text]) => [`${name}.js`, text]);
  return {
    ...Object.fromEntries(scripts),
    "loader.js": (await built("source/loader.js")).text,
    "style.css": (await built("source/style.css")).text,
    "layers.css": (await built("source/style/layers.css")).text,
    "tables.css": (await built("source/style/evaluation.css")).text,
    "server.js": (await built("source/server/main.tsx", { define, ...mangle })).text,
    "server.css": (await built("source/server.css")).text,
  };
}
