// The page: a head, what can be turned, and the views.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Compare, LayerControls, Legend, Toolbar } from "./controls";
import { EvaluationView, TableView } from "./evaluation";
import { copy, FORMATS, save, type Views } from "./export";
import { KEYS, listen } from "./keys";
import { LayersView } from "./layers";
import { MatrixView } from "./matrix";
import { PictureView } from "./picture";
import { Ranking } from "./ranking";
import { Roller } from "./roller";
import { written } from "./scale";
import type { Session } from "./session";
import { TextView } from "./text";

interface With {
  session: Session;
}

/** The place of a view that draws itself. */
function Host({ element }: { element: HTMLElement }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => host.current!.replaceChildren(element), [element]);
  return <div class="host" ref={host} />;
}

function useRedraw(session: Session, hover = false) {
  const [, redraw] = useState(0);
  useEffect(() => {
    const again = () => redraw((count) => count + 1);
    const end = session.onChange(again);
    const endHover = hover ? session.onHover(again) : null;
    return () => {
      end();
      endHover?.();
    };
  }, [session]);
}

function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState("");
  return (
    <button
      onClick={async () => {
        setDone((await copy(text)) ? "Copied" : "Not allowed here");
        setTimeout(() => setDone(""), 1500);
      }}
    >
      {done || label}
    </button>
  );
}

function Head({ session, help, views }: With & { help: () => void; views: Views | null }) {
  const { item, page, state } = session;
  const details = [...item.details];
  const theme = { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" } as const;
  return (
    <header>
      <div class="top">
        <div>
          <h1>{item.title}</h1>
          <p class="details">{details.join(" \u00b7 ")}</p>
          {item.about && <p class="about">{item.about}</p>}
        </div>
        <div class="actions">
          {page.items.length > 1 && (
            <div class="segments" role="group" aria-label="Result">
              <button disabled={state.item === 0} onClick={() => session.update({ item: state.item - 1 })}>
                {"\u2039"}
                <span class="away">The one before</span>
              </button>
              <select
                aria-label="Item"
                value={String(state.item)}
                onChange={(event) => session.update({ item: Number(event.currentTarget.value) })}
              >
                {page.items.map((one, k) => (
                  <option key={k} value={String(k)}>
                    {`${k + 1}: ${one.about ?? snippet(one)}`}
                  </option>
                ))}
              </select>
              <button
                disabled={state.item === page.items.length - 1}
                onClick={() => session.update({ item: state.item + 1 })}
              >
                {"\u203a"}
                <span class="away">The next one</span>
              </button>
            </div>
          )}
          {views && (
            <label class="field">
              <span class="away">Export</span>
              <select
                id="export"
                value=""
                onChange={(event) => {
                  const format = event.currentTarget.value as (typeof FORMATS)[number][0];
                  event.currentTarget.value = "";
                  void save(session, views, format);
                }}
              >
                <option value="">Export&hellip;</option>
                {FORMATS.map(([format, name]) => (
                  <option key={format} value={format}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          <button
            onClick={() =>
              session.update({
                theme: state.theme === "system" ? (session.dark ? "light" : "dark") : "system",
              })
            }
            title="Key: l"
          >
            {theme[state.theme]}
          </button>
          <button onClick={help} aria-label="Keys" title="Key: ?">
            ?
          </button>
        </div>
      </div>
      {page.command && (
        <div class="command">
          <code>{page.command}</code>
          <CopyButton text={page.command} label="Copy" />
        </div>
      )}
    </header>
  );
}

function snippet(item: Session["item"]): string {
  if (item.kind !== "attribution") return item.title;
  const { before, text, labels } = item.inputs;
  const words =
    text
      .map((own, t) => before[t]! + own)
      .join("")
      .trim() || labels.slice(0, 6).join(" ");
  return words.length > 40 ? words.slice(0, 39) + "\u2026" : words;
}

function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <button onClick={close}>Close</button>
    </dialog>
  );
}

/** The places of the largest values, by size. */
function largest(values: Float32Array, count: number): number[] {
  const best: number[] = [];
  const size = (k: number) => Math.abs(values[k]!);
  for (let k = 0; k < values.length; k++) {
    if (Number.isNaN(values[k]!) || (best.length === count && size(k) <= size(best[count - 1]!))) continue;
    best.push(k);
    best.sort((a, b) => size(b) - size(a));
    if (best.length > count) best.pop();
  }
  return best;
}

/** What the colours of the text answer, in words; also for those who listen. */
function QuestionLine({ session }: With) {
  useRedraw(session, true);
  if (!session.grids) return null;
  const { answer, lens } = session;
  const from = answer.question.ask === "from";
  const labels = session.units(from ? session.one.inputs : session.outputs).labels;
  const best = largest(answer.values, 3).map((k) => `${labels[k]} ${written(answer.values[k]!, lens.exact)}`);
  const name = session.labelOf(answer.question);
  const row =
    from && answer.question.units.length === 1 ? lens.rowOfUnit(answer.question.units[0]!) : undefined;
  const share = session.twoTexts && !session.signed && row !== undefined ? lens.mass(row) : null;
  return (
    <div class="question">
      <p aria-live="polite">
        {from ? "Output " : "Input "}
        <b>{name}</b>
        {from ? " comes from " : " is used by "}
        {best.join(", ")}
        {share !== null && <span class="soft"> ({(100 * share).toFixed(0)} % from the prompt)</span>}
        {session.isPinned && !answer.hovering && (
          <button class="link" onClick={() => session.update({ pinned: [] })}>
            let go (Esc)
          </button>
        )}
      </p>
      <Legend
        session={session}
        shade={answer.shade}
        label={from ? "inputs of this output" : "outputs that use it"}
        overlay={session.one.image !== undefined}
      />
    </div>
  );
}

interface Drawn {
  views: Views;
  layers: LayersView;
}

function makeViews(session: Session, roller: Roller): Drawn {
  const { twoTexts, one } = session;
  const texts = one.image
    ? []
    : twoTexts
      ? [new TextView(session, true, false, "Prompt"), new TextView(session, false, true, "Output")]
      : [new TextView(session, true, true, "Text")];
  const matrix = new MatrixView(session);
  matrix.onBrush = (token) => texts[0]?.nearest(token);
  return {
    views: { texts, matrix, picture: one.image ? new PictureView(session) : null },
    layers: new LayersView(session, roller),
  };
}

function Results({ session, drawn }: With & { drawn: Drawn }) {
  const { one } = session;
  const { views, layers } = drawn;
  const hasLayers = LayersView.has(one);
  const couldHave = !session.comparison && ["rollout", "flow", "average"].includes(one.method);
  const notes = [...new Set(one.notes)];
  const { coding, steps } = one.values[0]!;
  if (coding.startsWith("root"))
    notes.push(
      `Numbers on this page are within ${(100 / steps).toFixed(1)} % of the largest of their row; .json and .npz hold them in full.`,
    );
  return (
    <main>
      <Toolbar session={session} />
      <Compare session={session} />
      <div class="views">
        <div class="column">
          <section class="view-text" id="view1" aria-label={one.image ? "Image" : "Text"}>
            <h2>{one.image ? "Image" : "Text"}</h2>
            <QuestionLine session={session} />
            {views.picture && <Host element={views.picture.root} />}
            <div class={views.texts.length > 1 ? "columns" : ""}>
              {views.texts.map((text, k) => (
                <div key={k}>
                  {views.texts.length > 1 && (
                    <h3>{k ? "Output" : one.signed ? "Prompt and output" : "Prompt"}</h3>
                  )}
                  <Host element={text.root} />
                </div>
              ))}
            </div>
          </section>
          <section class="view-ranking" id="view4" aria-label="Ranking">
            <h2>Ranking</h2>
            <div class="ranking" tabIndex={0} role="group" aria-label="Ranked tokens">
              <Ranking session={session} />
            </div>
          </section>
        </div>
        <div class="column">
          <section class="view-matrix" id="view2" aria-label="Matrix">
            <h2>Matrix</h2>
            <Host element={views.matrix.root} />
            {views.matrix.shade && <Legend session={session} shade={views.matrix.shade} label="all values" />}
          </section>
          {(hasLayers || couldHave) && (
            <section class="view-layers" id="view3" aria-label="Layers">
              <h2>Layers</h2>
              {hasLayers ? (
                <>
                  <LayerControls session={session} />
                  <Host element={layers.root} />
                </>
              ) : (
                <p class="soft">
                  This page holds the result alone. With <code>--embed-layers</code> it holds every layer, and
                  layers and residual can be changed here.
                </p>
              )}
            </section>
          )}
          {notes.length > 0 && (
            <section class="notes" aria-label="Notes">
              <h2>Notes</h2>
              <ul>
                {notes.map((note) => (
                  <li key={note}>{note}</li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
    </main>
  );
}

function App({ session }: With) {
  useRedraw(session);
  const [help, setHelp] = useState(false);
  const [roller] = useState(() => new Roller(session));
  const drawn = useRef<{ key: string; drawn: Drawn } | null>(null);
  const { item } = session;
  const open = useRef(help);
  open.current = help;
  const shows = item.kind === "attribution" || item.kind === "comparison";
  const key = shows ? `${session.state.item} ${session.twoTexts} ${!!session.one.image}` : "";
  if (shows && drawn.current?.key !== key) drawn.current = { key, drawn: makeViews(session, roller) };
  const now = shows && session.grids ? drawn.current!.drawn : null;
  now?.views.matrix.prepare(); // its scale is in the legend
  useEffect(() => {
    document.documentElement.dataset["theme"] = session.dark ? "dark" : "light";
    document.title = `${item.title} \u2013 ${item.details[0] ?? ""}`;
    if (!now) return;
    for (const text of now.views.texts) text.render();
    now.views.picture?.render();
    now.views.matrix.render();
    now.layers.render();
  });
  useEffect(() => {
    const end = session.onHover(() => {
      const views = drawn.current?.drawn;
      if (!views || !session.grids) return;
      for (const text of views.views.texts) text.paint();
      views.views.picture?.paint();
      views.views.matrix.paint();
      views.layers.render();
    });
    listen(session, {
      help: () => setHelp((shown) => !shown),
      export: () => document.getElementById("export")?.focus(),
      focus: (view) => {
        const section = document.getElementById(`view${view}`);
        section?.scrollIntoView({ block: "nearest" });
        section?.querySelector<HTMLElement>("[tabindex='0'], canvas, input, button")?.focus();
      },
      close: () => open.current,
    });
    return end;
  }, [session]);
  useRolling(session, roller);
  return (
    <>
      <Head session={session} help={() => setHelp(true)} views={now?.views ?? null} />
      {item.kind === "evaluation" && <EvaluationView item={item} />}
      {item.kind === "table" && <TableView item={item} />}
      {now && <Results session={session} drawn={now} />}
      <footer>headwater {session.page.headwater}. Nothing leaves this page.</footer>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

/** Rolls again when layers or residual are not those of the result. */
function useRolling(session: Session, roller: Roller) {
  const { begin, end, residual, item } = session.state;
  const first = useRef(true);
  useEffect(() => {
    const { kind } = session.item;
    if (kind !== "attribution" || Roller.why(session.one) !== null) return;
    const asComputed = begin < 0 && end < 0 && residual < 0;
    if (asComputed && first.current) return;
    first.current = false;
    if (asComputed) return session.setRolled(null);
    let stale = false;
    // A slider on its way asks a lot of questions, and the graph of one output comes first.
    const timer = setTimeout(() => {
      void roller.roll(session.one).then((values) => values && !stale && session.setRolled(values));
    }, 40);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [begin, end, residual, item, session.grids !== null]);
}

export function start(session: Session, root: HTMLElement): void {
  render(<App session={session} />, root);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => session.update({}));
}
