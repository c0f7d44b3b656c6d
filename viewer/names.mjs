// Names of fields that nobody outside of the scripts knows, and which may therefore become short ones: those that
// are no name of the browser's, of the language's, or of what a page, a link or a server holds.
import { readdirSync, readFileSync } from "node:fs";

const LIBRARIES = new URL("node_modules/@typescript/", import.meta.url);
// These too: nothing of the browser's that is called so is used here, and they have no dot before them, or are the
// name of a class of style as well.
const OURS =
  "asked Body canvas cellX cellY codes column columnTokens edge element EvaluationView exact hasLayers high LayerControls level matrix members memory minus most names overlay picture place Records room root rowTokens share start state stops table TableView take turn update wide words".split(
    " ",
  );
const OUTSIDE = ["contract.ts", "state.ts", "server/contract.ts", "server/draft.ts", "server/client.ts"];

/** The fields that a file declares or writes, those in its comments left out. */
function fields(text) {
  const code = text.replace(/\/\*[^]*?\*\/|\/\/.*/g, "");
  return [...code.matchAll(/([A-Za-z_]\w*)\??:|\{([^{}();]*)\}/g)].flatMap(([, name, list]) =>
    name ? [name] : (list.match(/[A-Za-z_]\w*/g) ?? []),
  );
}

/** Members that TypeScript's description of the browser and the language declares. */
function declared() {
  const names = new Set();
  for (const file of readdirSync(LIBRARIES, { recursive: true }))
    if (/lib\.[^/]*\.d\.ts$/.test(file))
      for (const [, name] of readFileSync(new URL(file, LIBRARIES), "utf8").matchAll(
        /^\s*(?:declare |readonly |get |set |var |const |function |class |interface )*"?(\w+)"?\??\s*[:(<{ ]/gm,
      ))
        names.add(name);
  return names;
}

/** A name may become short if it is used with a dot, and never as a string. */
export function internalNames(sources) {
  const known = declared();
  if (known.size < 5000)
    throw new Error("node_modules has no description of the browser; run tools/setup viewer");
  for (const file of OUTSIDE)
    for (const name of fields(readFileSync(`source/${file}`, "utf8"))) known.add(name);
  const texts = sources.map((file) => readFileSync(file, "utf8"));
  for (const text of texts) for (const [, name] of text.matchAll(/["'`](\w+)["'`]/g)) known.add(name);
  const own = new Set(OURS);
  for (const text of texts)
    for (const [, name] of text.matchAll(/\.(\w{2,})/g)) if (!known.has(name)) own.add(name);
  return new RegExp(`^(${[...own].sort().join("|")})$`);
}
