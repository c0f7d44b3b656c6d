// The page: a head, what can be turned, and the views.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Compare, LayerControls, Legend, named, Toolbar } from "./controls";
import { EvaluationView, TableView } from "./evaluation";
import type { Views } from "./export";
import { Head, Help } from "./head";
import { activate, listen } from "./keys";
import { LayersView } from "./layers";
import { MatrixView } from "./matrix";
import { PictureView } from "./picture";
import { Ranking } from "./ranking";
import { Roller } from "./roller";
import { written } from "./scale";
import { Session } from "./session";
import { kept } from "./state";
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

/** The name before its ids, and the element that holds its views: a document has one main part. */
function placeOf(session: Session): { name: string; Body: "main" | "div" } {
  return { name: session.place.name, Body: session.place.linked ? "main" : "div" };
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
  const { name, Body } = placeOf(session);
  return (
    <Body>
      <Toolbar session={session} />
      <Compare session={session} />
      <div class="views">
        <div class="column">
          <section
            class="view-text"
            id={name + "view1"}
            aria-label={named(session, one.image ? "Image" : "Text")}
          >
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
          <section class="view-ranking" id={name + "view4"} aria-label={named(session, "Ranking")}>
            <h2>Ranking</h2>
            <div class="ranking" tabIndex={0} role="group" aria-label="Ranked tokens">
              <Ranking session={session} />
            </div>
          </section>
        </div>
        <div class="column">
          <section class="view-matrix" id={name + "view2"} aria-label={named(session, "Matrix")}>
            <h2>Matrix</h2>
            <Host element={views.matrix.root} />
            {views.matrix.shade && <Legend session={session} shade={views.matrix.shade} label="all values" />}
          </section>
          {(hasLayers || couldHave) && (
            <section class="view-layers" id={name + "view3"} aria-label={named(session, "Layers")}>
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
            <section class="notes" aria-label={named(session, "Notes")}>
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
    </Body>
  );
}

export function App({ session }: With) {
  useRedraw(session);
  const [help, setHelp] = useState(false);
  const [roller] = useState(() => new Roller(session));
  const drawn = useRef<{ key: string; drawn: Drawn } | null>(null);
  const { item } = session;
  const { name, Body } = placeOf(session);
  const open = useRef(help);
  open.current = help;
  const shows = item.kind === "attribution" || item.kind === "comparison";
  const key = shows ? `${session.state.item} ${session.twoTexts} ${!!session.one.image}` : "";
  if (shows && drawn.current?.key !== key) drawn.current = { key, drawn: makeViews(session, roller) };
  const now = shows && session.grids ? drawn.current!.drawn : null;
  now?.views.matrix.prepare(); // its scale is in the legend
  useEffect(() => {
    if (!name) document.documentElement.dataset["theme"] = session.dark ? "dark" : "light";
    if (!name) document.title = `${item.title} \u2013 ${item.details[0] ?? ""}`;
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
    const endKeys = listen(session, {
      help: () => setHelp((shown) => !shown),
      export: () => document.getElementById(name + "export")?.focus(),
      search: () => document.getElementById(name + "search")?.focus(),
      focus: (view) => {
        const section = document.getElementById(`${name}view${view}`);
        section?.scrollIntoView({ block: "nearest" });
        section?.querySelector<HTMLElement>("[tabindex='0'], canvas, input, button")?.focus();
      },
      close: () => open.current,
    });
    const system = matchMedia("(prefers-color-scheme: dark)");
    const change = () => session.update({});
    system.addEventListener("change", change);
    return () => {
      end();
      endKeys();
      system.removeEventListener("change", change);
      roller.end();
    };
  }, [session]);
  useRolling(session, roller);
  return (
    <div class="pane" onPointerEnter={() => activate(session)} onFocusIn={() => activate(session)}>
      <Head session={session} help={() => setHelp(true)} views={now?.views ?? null} />
      {item.kind === "evaluation" && <EvaluationView item={item} Body={Body} />}
      {item.kind === "table" && <TableView item={item} Body={Body} />}
      {now && <Results session={session} drawn={now} />}
      {session.place.linked && <footer>headwater {session.page.headwater}. Nothing leaves this page.</footer>}
      {help && <Help close={() => setHelp(false)} />}
    </div>
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

/** The page: its result and, if the reader asks for it, another one beside it. */
function PageApp({ session }: With) {
  useRedraw(session);
  const [second, setSecond] = useState<Session | null>(null);
  const { beside } = session.state;
  const there = beside >= 0 && beside < session.page.items.length;
  useEffect(() => {
    if (!there) return setSecond(null);
    const place = { name: "second", linked: false };
    const other = new Session(session.page, `#item=${beside}`, place, kept(session.state));
    let stale = false;
    void other.load().then(() => stale || setSecond(other));
    const end = session.onChange(() => other.update({})); // as dark as the first
    return () => {
      stale = true;
      end();
    };
  }, [there ? beside : -1]);
  return (
    <div class={second ? "panes two" : ""}>
      <App session={session} />
      {second && (
        <aside aria-label="Second result">
          <App key={beside} session={second} />
        </aside>
      )}
    </div>
  );
}

export function start(session: Session, root: HTMLElement): void {
  render(<PageApp session={session} />, root);
}
