// A result: what can be turned, its views and its notes.
import { Fragment, h, useEffect, useRef } from "./jsx";
import { placeOf, useRedraw } from "./app";
import { Legend, named, Toolbar } from "./controls";
import { FORMATS, save, type Views } from "./export";
import { ExportMenu, Head } from "./head";
import type { LayersView } from "./layers";
import { MatrixView } from "./matrix";
import { parts } from "./parts";
import { Ranking } from "./ranking";
import type { PatchesView } from "./patches";
import type { Roller } from "./roller";
import { written } from "./scale";
import type { Session } from "./session";

interface With {
  session: Session;
}

/** The place of a view that draws itself. */
function Host({ element }: { element: HTMLElement }) {
  const host = useRef<HTMLDivElement | null>(null);
  useEffect(() => host.current!.replaceChildren(element), [element]);
  return <div class="host" ref={host} />;
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
  const prefix = session.one.image?.prefix ?? Infinity;
  const nameOf = (k: number) => (k < prefix ? labels[k] : `patch ${labels[k]}`);
  const listed = (count: number, sign: number) =>
    largest(
      answer.values.map((value) => (value * sign < 0 ? NaN : value)),
      count,
    )
      .filter((k) => answer.values[k] !== 0)
      .map((k) => `${nameOf(k)} ${written(answer.values[k]!, lens.exact)}`)
      .join(", ");
  const against = listed(2, -1);
  const says = session.difference
    ? `differs most at ${listed(3, 0)}`
    : session.signed
      ? `${from ? "has most for it in" : "speaks for"} ${listed(3, 1)}${against && `; against: ${against}`}`
      : `${from ? "comes from" : "is used by"} ${listed(3, 0)}`;
  const name = session.labelOf(answer.question);
  const row =
    from && answer.question.units.length === 1 ? lens.rowOfUnit(answer.question.units[0]!) : undefined;
  const share = session.twoTexts && !session.signed && row !== undefined ? lens.mass(row) : null;
  return (
    <div class="question">
      <p aria-live="polite">
        {from ? "Output " : "Input "}
        <b>{name}</b>
        {` ${says}`}
        {share !== null && <span class="soft"> ({(100 * share).toFixed(0)} % from the prompt)</span>}
        {session.isPinned && !answer.hovering && (
          <button class="link" onclick={() => session.update({ pinned: [] })}>
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
  layers: LayersView | null;
  patches: PatchesView | null;
  roller: Roller | null;
}

function makeViews(session: Session): Drawn {
  const { twoTexts, one } = session;
  const { text: Text, picture: Picture, patches: Patches, layers } = parts;
  const texts =
    one.image || !Text
      ? []
      : twoTexts
        ? [new Text(session, true, false, "Prompt"), new Text(session, false, true, "Output")]
        : [new Text(session, true, true, "Text")];
  const matrix = new MatrixView(session);
  matrix.onBrush = (token) => texts[0]?.nearest(token);
  const roller = layers ? new layers.Roller(session) : null;
  return {
    views: { texts, matrix, picture: one.image && Picture ? new Picture(session) : null },
    layers: roller && new layers!.LayersView(session, roller),
    roller,
    patches: Patches ? new Patches(session) : null,
  };
}

function Results({ session, drawn }: With & { drawn: Drawn }) {
  const { one } = session;
  const { views, layers } = drawn;
  const { LayersView, LayerControls } = parts.layers ?? {};
  const hasLayers = LayersView?.has(one);
  const { Compare } = parts.compare ?? {};
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
      {Compare && <Compare session={session} />}
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
            <div class={drawn.patches ? "pictured" : ""}>
              {drawn.patches && <Host element={drawn.patches.root} />}
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
              {hasLayers && LayerControls && layers ? (
                <>
                  <LayerControls session={session} />
                  <Host element={layers.root} />
                </>
              ) : (
                <p class="soft">
                  With <code>--embed-layers</code> the page holds every layer, and layers and residual can be
                  changed here.
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

export function Result({ session, help }: With & { help: () => void }) {
  const drawn = useRef<{ key: string; drawn: Drawn } | null>(null);
  const key = `${session.state.item} ${session.twoTexts} ${!!session.one.image}`;
  if (drawn.current?.key !== key) {
    drawn.current?.drawn.roller?.end();
    drawn.current = { key, drawn: makeViews(session) };
  }
  const now = session.grids ? drawn.current.drawn : null;
  now?.views.matrix.prepare(); // its scale is in the legend
  useEffect(() => {
    if (!now) return drawn.current!.drawn.views.texts.forEach((text) => text.prepare());
    for (const text of now.views.texts) text.render();
    now.views.picture?.render();
    now.patches?.render();
    now.views.matrix.render();
    now.layers?.render();
  });
  useEffect(() => {
    const end = session.onHover(() => {
      const views = drawn.current?.drawn;
      if (!views || !session.grids || !session.shows) return;
      for (const text of views.views.texts) text.paint();
      views.views.picture?.paint();
      views.patches?.paint();
      views.views.matrix.paint();
      views.layers?.render();
    });
    return () => {
      end();
      drawn.current?.drawn.roller?.end();
    };
  }, [session]);
  useRolling(session, drawn.current.drawn.roller);
  return (
    <>
      <Head session={session} help={help}>
        {now && (
          <ExportMenu session={session} formats={FORMATS} save={(name) => save(session, now.views, name)} />
        )}
      </Head>
      {now && <Results session={session} drawn={now} />}
    </>
  );
}

/** Rolls again when layers or residual are not those of the result. */
function useRolling(session: Session, roller: Roller | null) {
  const { begin, end, residual, item } = session.state;
  const first = useRef(true);
  useEffect(() => {
    const { kind } = session.item;
    if (kind !== "attribution" || !roller || parts.layers!.Roller.why(session.one) !== null) return;
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
