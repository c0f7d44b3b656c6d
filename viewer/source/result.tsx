// A result: its controls, its views and its notes.
import { type Child, h, useEffect, useRef } from "./jsx";
import { placeOf, useRedraw } from "./app";
import { Legend, legendOfAll, legendOfAnswer, named, Toolbar } from "./controls";
import { FORMATS, save, type Views } from "./export";
import { ExportMenu, Head } from "./head";
import { matrixView } from "./matrix";
import { upTo } from "./arrays";
import { abs, max } from "./numbers";
import { parts } from "./parts";
import { Ranking } from "./ranking";
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
  return <div ref={host} />;
}

/** The places of the largest values, by size. */
function largest(values: Float32Array, count: number): number[] {
  const size = (k: number) => abs(values[k]!);
  const some = upTo(values.length).filter(size); // none that is 0 or not there
  return some.sort((a, b) => size(b) - size(a)).slice(0, count);
}

/** A part of the page with a heading; keys lead to the one with `place`. */
function Section({
  session,
  name,
  place,
  children,
}: With & { name: string; place?: number; children?: Child }) {
  return (
    <section id={place && `${session.place.name}view${place}`} aria-label={named(session, name)}>
      <h2>{name}</h2>
      {children}
    </section>
  );
}

/** What the colours of the text answer, in words; also for those who listen. */
function QuestionLine({ session }: With) {
  useRedraw(session, true);
  if (!session.grids) return null;
  const { answer, lens, one, hasSigns } = session;
  const { from, asked: question, amounts: values } = answer;
  const { names: labels } = from ? session.inputUnits : session.outputUnits;
  const prefix = one.image?.prefix ?? Infinity;
  // A token may be written from the right; its value still comes after it.
  const listed = (count: number, sign: number) =>
    largest(
      values.map((value) => (value * sign < 0 ? 0 : value)),
      count,
    ).map((k, at) => [
      at ? ", " : " ",
      k < prefix ? "" : "patch ",
      <bdi>{labels[k]}</bdi>,
      ` ${written(values[k]!, lens.exact)}`,
    ]);
  const against = hasSigns ? listed(2, -1) : [];
  const says = session.differs
    ? ["differs most at", listed(3, 0)]
    : hasSigns
      ? [from ? "is supported by" : "supports", listed(3, 1), against[0] && ["; against:", against]]
      : [from ? "comes from" : "is used by", listed(3, 0)];
  const row = from && !question.units[1] ? lens.rowOfUnit(question.units[0]!) : undefined;
  return (
    <div class="question">
      <p aria-live="polite">
        {from ? "Output " : "Input "}
        <b dir="auto">{session.labelOf(question)}</b> {says}
        {session.twoTexts && !hasSigns && row !== undefined && (
          <span class="soft"> ({(100 * lens.mass(row)).toFixed(0)} % from the prompt)</span>
        )}
        {session.isPinned && !answer.hovering && (
          <button class="link" onclick={() => session.update({ pinned: [] })}>
            unpin (Esc)
          </button>
        )}
      </p>
      <Legend {...legendOfAnswer(session)} />
    </div>
  );
}

/** What draws itself into an element of its own. */
interface View {
  root: HTMLElement;
  render: () => void;
  paint: () => void; // again, as another question is asked
}

interface Drawn extends Views {
  layers: View | null;
  patches: View | null;
  roller: Roller | null;
  all: View[];
}

function makeViews(session: Session): Drawn {
  const { text, picture: pictureView, patches: patchesView, layers: layered } = parts;
  const { image } = session.one;
  const texts =
    image || !text
      ? []
      : session.twoTexts
        ? [text(session, true, false, "Prompt"), text(session, false, true, "Output")]
        : [text(session, true, true, "Text")];
  const matrix = matrixView(session, (token) => texts[0]?.nearest(token));
  const roller = layered?.rollerOf(session) ?? null;
  const layers = layered?.layersView(session, roller!) ?? null;
  const picture = (image && pictureView?.(session)) ?? null;
  const patches = patchesView?.(session) ?? null;
  const all = [...texts, picture, patches, matrix, layers].filter((view) => view !== null);
  return { texts, matrix, picture, layers, patches, roller, all };
}

function Results({ session, drawn }: With & { drawn: Drawn }) {
  const { one } = session;
  const { texts, picture, patches, matrix, layers } = drawn;
  const { hasLayers, LayerControls } = parts.layers ?? {};
  const { Compare } = parts.compare ?? {};
  const controls = hasLayers?.(one) && LayerControls;
  const notes = [...new Set(one.notes)];
  const { Body } = placeOf(session);
  const shade = matrix.shade();
  const two = texts.length > 1;
  return (
    <Body>
      <Toolbar session={session} />
      {Compare && <Compare session={session} />}
      <div class="views">
        <div class="column">
          <Section session={session} name={one.image ? "Image" : "Text"} place={1}>
            <QuestionLine session={session} />
            {picture && <Host element={picture.root} />}
            <div class={patches && "pictured"}>
              {patches && <Host element={patches.root} />}
              <div class={two && "columns"}>
                {texts.map((text, k) => (
                  <div key={k}>
                    {two && <h3>{k ? "Output" : one.signed ? "Prompt and output" : "Prompt"}</h3>}
                    <Host element={text.root} />
                  </div>
                ))}
              </div>
            </div>
          </Section>
          <Section session={session} name="Ranking" place={4}>
            <div class="ranking" tabIndex={0} role="group" aria-label="Ranked tokens">
              <Ranking session={session} />
            </div>
          </Section>
        </div>
        <div class="column">
          <Section session={session} name="Matrix" place={2}>
            <Host element={matrix.root} />
            {shade && <Legend {...legendOfAll(session, shade)} />}
          </Section>
          {(controls || one.no_layers) && (
            <Section session={session} name="Layers" place={3}>
              {controls ? (
                <>
                  {h(controls, { session })}
                  <Host element={layers!.root} />
                </>
              ) : (
                <p class="soft">{one.no_layers}</p>
              )}
            </Section>
          )}
          {notes.length > 0 && (
            <Section session={session} name="Notes">
              <ul>
                {notes.map((note) => (
                  <li key={note}>{note}</li>
                ))}
              </ul>
            </Section>
          )}
        </div>
      </div>
    </Body>
  );
}

export function Result({ session, help }: With & { help: () => void }) {
  const made = useRef<{ key: string; drawn: Drawn } | null>(null);
  const key = `${session.state.item} ${session.twoTexts} ${!!session.one.image}`;
  if (made.current?.key !== key) {
    made.current?.drawn.roller?.end();
    made.current = { key, drawn: makeViews(session) };
  }
  const { drawn } = made.current!;
  const ready = !!session.grids;
  if (ready) drawn.matrix.prepare(); // its scale is in the legend
  useEffect(() => {
    if (ready) for (const view of drawn.all) view.render();
    else for (const text of drawn.texts) text.prepare();
  });
  useEffect(() => {
    const end = session.onHover(() => {
      if (session.shows) for (const view of made.current!.drawn.all) view.paint();
    });
    return () => {
      end();
      made.current!.drawn.roller?.end();
    };
  }, [session]);
  useRolling(session, drawn.roller);
  return (
    <>
      <Head session={session} help={help}>
        {ready && (
          <ExportMenu session={session} formats={FORMATS} save={(name) => save(session, drawn, name)} />
        )}
      </Head>
      {ready && <Results session={session} drawn={drawn} />}
    </>
  );
}

/** Rolls again when layers or residual are not those of the result. */
function useRolling(session: Session, roller: Roller | null) {
  const { begin, end, residual, item } = session.state;
  const first = useRef(true);
  useEffect(() => {
    if (session.item.kind !== "attribution" || !roller || !session.one.maps || session.one.fixed) return;
    const asComputed = max(begin, end, residual) < 0;
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
