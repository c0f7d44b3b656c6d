// The controls above the views.
import { upTo } from "./arrays";
import { Choice } from "./choice";
import { h } from "./jsx";
import { round } from "./numbers";
import { SCALES, type Shade, written } from "./scale";
import type { Session } from "./session";
import type { State } from "./state";
import { UNITS } from "./units";

interface With {
  session: Session;
}

/** The least tokens of a paragraph that folds. */
export const LONG = 60;
const SCALE_NAMES = { linear: "linear", log: "logarithmic", rank: "by rank" };

function Check(props: {
  called: string;
  on: boolean;
  take: (on: boolean) => void;
  keyName?: string;
  off?: boolean;
}) {
  return (
    <label class="check" title={props.keyName && `Key: ${props.keyName}`}>
      <input
        type="checkbox"
        checked={props.on}
        disabled={props.off}
        onchange={(event) => props.take(event.currentTarget.checked)}
      />
      {props.called}
    </label>
  );
}

export function Segments<Word extends string>(props: {
  called: string;
  chosen: Word;
  words: readonly (readonly [Word, string])[];
  take: (word: Word) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={props.called}>
      {props.words.map(([word, text]) => (
        <button
          key={word}
          type="button"
          aria-pressed={word === props.chosen}
          onclick={() => props.take(word)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

export function Slider(props: {
  called: string;
  chosen: number;
  least?: number; // 0 if left out
  most: number;
  step?: number; // 1 if left out
  says: string;
  take: (value: number) => void;
}) {
  return (
    <label class="field slider">
      <span>{props.called}</span>
      <input
        type="range"
        min={props.least ?? 0}
        max={props.most}
        step={props.step ?? 1}
        value={props.chosen}
        oninput={(event) => props.take(event.currentTarget.valueAsNumber)}
      />
      <output>{props.says}</output>
    </label>
  );
}

/** A label that tells two views of one document apart. */
export const named = (session: Session, label: string): string =>
  session.place.name ? `${label}, second result` : label;

export function Toolbar({ session }: With) {
  const { state, one } = session;
  const set = (change: Partial<State>) => session.update(change);
  const hideName = one.left_out ? "Hide filtered tokens" : "Hide special tokens";
  const canHide = one.left_out !== undefined || one.inputs.special.length > 0;
  return (
    <div class="toolbar" role="toolbar" aria-label={named(session, "View")}>
      {one.mean || (
        <Segments
          called="Question"
          chosen={state.ask}
          words={[
            ["from", "What is an output made of?"],
            ["to", "Who uses an input?"],
          ]}
          take={(ask) => set({ ask, pinned: [] })}
        />
      )}
      {!one.image && (
        <Choice
          called="Unit"
          chosen={state.unit}
          words={UNITS.map((unit) => [unit, unit] as const)}
          take={(unit) => set({ unit })}
          keyName="u"
        />
      )}
      <Choice
        called="Scale"
        chosen={state.scale}
        words={SCALES.map((scale) => [scale, SCALE_NAMES[scale]] as const)}
        take={(scale) => set({ scale })}
        keyName="c"
      />
      {canHide && <Check called={hideName} on={state.hide} take={(hide) => set({ hide })} keyName="s" />}
      {canHide && !session.hasSigns && (
        <Check
          called="Renormalise"
          on={state.hide && state.renormalise}
          off={!state.hide}
          take={(renormalise) => set({ renormalise })}
          keyName="n"
        />
      )}
      {one.inputs.labels.length >= LONG && !one.image && (
        <Check called="Fold quiet text" on={state.fold} take={(fold) => set({ fold })} keyName="f" />
      )}
      {one.image && (
        <Slider
          called="Overlay"
          chosen={state.opacity}
          most={1}
          step={0.05}
          says={`${round(100 * state.opacity)} %`}
          take={(opacity) => set({ opacity })}
        />
      )}
      <label class="field search">
        <span class="away">Search tokens</span>
        <input
          type="search"
          id={session.place.name + "search"}
          placeholder="Search tokens  /"
          value={state.search}
          oninput={(event) => set({ search: event.currentTarget.value })}
        />
      </label>
    </div>
  );
}

interface Meaning {
  session: Session;
  shade: Shade;
  label: string;
  overlay?: boolean;
}

/** The colours, what the first and the last of them stand for, and of what. */
export function meaningOf({ session, shade, label, overlay }: Meaning) {
  const palette = overlay ? session.overlayPalette : session.palette;
  const most = written(shade.most);
  return {
    stops: upTo(17).map((k) => palette.css(session.hasSigns ? k / 8 - 1 : k / 16)),
    low: session.hasSigns
      ? `\u2212${most}`
      : shade.kind === "log"
        ? `\u2264 ${written(shade.most / 1e4)}`
        : "0",
    most,
    about: shade.kind === "linear" ? label : `${label}, ${SCALE_NAMES[shade.kind]}`,
  };
}

export function Legend(props: Meaning) {
  const { stops, low, most, about } = meaningOf(props);
  return (
    <div class="legend">
      <span>{low}</span>
      <span class="ramp" style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }} />
      <span>{most}</span>
      <span class="soft">{about}</span>
    </div>
  );
}

/** The legend of the text or the image. */
export function legendOfAnswer(session: Session): Meaning {
  const { shade, from } = session.answer;
  const label = from ? "inputs of this output" : "outputs that use it";
  return { session, shade, label, overlay: !!session.one.image };
}

/** The legend of the matrix. */
export const legendOfAll = (session: Session, shade: Shade): Meaning => ({
  session,
  shade,
  label: "all values",
});
