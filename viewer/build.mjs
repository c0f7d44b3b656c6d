// Builds viewer/built, which is committed: `node build.mjs`. With --check, compares instead. With --test, builds the
// unit tests into the folder that is named.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const MOST_BYTES = 60000;

const settings = {
  bundle: true,
  minify: true,
  target: "es2022",
  format: "iife",
  legalComments: "none",
  charset: "ascii",
  write: false,
  logLevel: "warning",
};

async function built(entry, more = {}) {
  const result = await build({ ...settings, entryPoints: [entry], ...more });
  return result.outputFiles[0].text.trimEnd();
}

async function all() {
  const worker = await built("source/worker.ts");
  const script = (entry) =>
    built(entry, {
      define: { WORKER: JSON.stringify(worker) },
      jsx: "automatic",
      jsxImportSource: "preact",
    });
  return {
    "script.js": await script("source/main.ts"),
    "style.css": await built("source/style.css"),
    "loader.js": await built("source/loader.js"),
    "server.js": await script("source/server/main.tsx"),
    "server.css": await built("source/server.css"),
  };
}

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
  // As the page of a result holds them: the script packed, the rest as it is.
  const packed = Math.ceil(gzipSync(files["script.js"], { level: 9 }).length / 3) * 4;
  const inPage = packed + files["style.css"].length + files["loader.js"].length;
  const minified = ["script.js", "style.css", "loader.js"].reduce((sum, name) => sum + files[name].length, 0);
  console.log(`viewer: ${minified} bytes minified, ${inPage} in a page`);
  if (inPage > MOST_BYTES)
    throw new Error(`${inPage} bytes of script and style in a page, at most ${MOST_BYTES}`);
  process.exitCode = wrong ? 1 : 0;
}
