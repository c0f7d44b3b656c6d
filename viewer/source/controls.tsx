// What a reader can turn.
import type { ComponentChildren } from "preact";
import { layerName } from "./layers";
import { Roller } from "./roller";
import { rankCorrelation } from "./lens";
import { SCALES, type Shade, written } from "./scale";
import type { Session } from "./session";
import type { State } from "./state";
import { UNITS } from "./units";

interface With {
  session: Session;
}

const SCALE_NAMES = { linear: "linear", log: "logarithmic", rank: "by rank" };

function Choice<Word extends string>(props: {
  label: string;
  value: Word;
  words: readonly (readonly [Word, string])[];
  take: (word: Word) => void;
  keyName?: string;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select
        value={props.value}
        title={props.keyName ? `Key: ${props.keyName}` : undefined}
        onChange={(event) => props.take(event.currentTarget.value as Word)}
      >
        {props.words.map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Check(props: {
  label: string;
  on: boolean;
  take: (on: boolean) => void;
  keyName?: string;
  off?: boolean;
}) {
  return (
    <label class="check" title={props.keyName ? `Key: ${props.keyName}` : undefined}>
      <input
        type="checkbox"
        checked={props.on}
        disabled={props.off}
        onChange={(event) => props.take(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}

export function Segments<Word extends string>(props: {
  label: string;
  value: Word;
  words: readonly (readonly [Word, string])[];
  take: (word: Word) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={props.label}>
      {props.words.map(([word, text]) => (
        <button key={word} type="button" aria-pressed={word === props.value} onClick={() => props.take(word)}>
          {text}
        </button>
      ))}
    </div>
  );
}

function Slider(props: {
  label: string;
  value: number;
  least: number;
  most: number;
  step: number;
  shown: string;
  take: (value: number) => void;
}) {
  return (
    <label class="field slider">
      <span>{props.label}</span>
      <input
        type="range"
        min={props.least}
        max={props.most}
        step={props.step}
        value={props.value}
        onInput={(event) => props.take(event.currentTarget.valueAsNumber)}
      />
      <output>{props.shown}</output>
    </label>
  );
}

/** A label that tells two views of one document apart. */
export function named(session: Session, label: string): string {
  return session.place.name ? `${label}, second result` : label;
}

export function Toolbar({ session }: With) {
  const { state, one } = session;
  const set = (change: Partial<State>) => session.update(change);
  const hideName = one.left_out ? "Hide what the filter left out" : "Hide special tokens";
  const canHide = one.left_out !== undefined || one.inputs.special.length > 0;
  return (
    <div class="toolbar" role="toolbar" aria-label={named(session, "View")}>
      {one.mean || (
        <Segments
          label="Question"
          value={state.ask}
          words={[
            ["from", "What is an output made of?"],
            ["to", "Who uses an input?"],
          ]}
          take={(ask) => set({ ask, pinned: [] })}
        />
      )}
      {!one.image && (
        <Choice
          label="Unit"
          value={state.unit}
          words={UNITS.map((unit) => [unit, unit] as const)}
          take={(unit) => set({ unit })}
          keyName="u"
        />
      )}
      <Choice
        label="Scale"
        value={state.scale}
        words={SCALES.map((scale) => [scale, SCALE_NAMES[scale]] as const)}
        take={(scale) => set({ scale })}
        keyName="c"
      />
      {canHide && <Check label={hideName} on={state.hide} take={(hide) => set({ hide })} keyName="s" />}
      {canHide && !session.signed && (
        <Check
          label="Renormalise"
          on={state.hide && state.renormalise}
          off={!state.hide}
          take={(renormalise) => set({ renormalise })}
          keyName="n"
        />
      )}
      {!one.image && (
        <Check label="Fold quiet text" on={state.fold} take={(fold) => set({ fold })} keyName="f" />
      )}
      {one.image && (
        <Slider
          label="Overlay"
          value={state.opacity}
          least={0}
          most={1}
          step={0.05}
          shown={`${Math.round(100 * state.opacity)} %`}
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
          onInput={(event) => set({ search: event.currentTarget.value })}
        />
      </label>
    </div>
  );
}

/** The colours and what they stand for. */
export function Legend(props: With & { shade: Shade; label: string; overlay?: boolean }) {
  const { session, shade, label } = props;
  const palette = props.overlay ? session.overlayPalette : session.palette;
  const stops = Array.from({ length: 17 }, (_, k) => palette.css(session.signed ? k / 8 - 1 : k / 16));
  const most = written(shade.most);
  const low = session.signed
    ? `\u2212${most}`
    : shade.kind === "log"
      ? `\u2264 ${written(shade.most / 1e4)}`
      : "0";
  return (
    <div class="legend">
      <span>{low}</span>
      <span class="ramp" style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }} />
      <span>{most}</span>
      <span class="soft">{shade.kind === "linear" ? label : `${label}, ${SCALE_NAMES[shade.kind]}`}</span>
    </div>
  );
}

export function Compare({ session }: With) {
  const { comparison, state } = session;
  if (!comparison) return null;
  const names = comparison.panels.map((panel, k) => [String(k), panel.label] as const);
  const agreement = comparison.agreement[state.a]?.[state.b];
  const { question } = session.answer;
  const other = session.otherLens;
  const rows = other && question.units.length === 1 && question.ask === "from";
  const here = rows
    ? rankCorrelation(session.valuesOf(question, session.firstLens), session.valuesOf(question, other))
    : NaN;
  return (
    <div class="toolbar compare" role="toolbar" aria-label={named(session, "Compare")}>
      <Choice
        label="A"
        value={String(state.a)}
        words={names}
        take={(a) => session.update({ a: Number(a) })}
      />
      <Choice
        label="B"
        value={String(state.b)}
        words={names}
        take={(b) => session.update({ b: Number(b) })}
      />
      <Segments
        label="Show"
        value={state.show}
        words={[
          ["a", "A"],
          ["b", "B"],
          ["difference", "A \u2212 B"],
        ]}
        take={(show) => session.update({ show })}
      />
      {agreement != null && (
        <span class="soft">
          Rank correlation of A and B: <b>{agreement.toFixed(2)}</b> over all rows
          {!Number.isNaN(here) && state.show !== "b" && (
            <>
              , <b>{here.toFixed(2)}</b> here
            </>
          )}
        </span>
      )}
    </div>
  );
}

export function LayerControls({ session }: With) {
  const { one, state } = session;
  const out: ComponentChildren[] = [];
  const layers = one.by_layer ?? [];
  if (layers.length > 1) {
    const k = session.layerOf(one);
    out.push(
      <Slider
        label={layers[0] === -1 ? "After layer" : "Up to layer"}
        value={k}
        least={0}
        most={layers.length - 1}
        step={1}
        shown={layerName(layers[k]!)}
        take={(layer) => session.setLayer(layer)}
      />,
    );
  }
  if (one.maps) {
    const why = Roller.why(one);
    const count = one.maps.length;
    const first = one.options.layers[0];
    const begin = Math.max(0, state.begin);
    const end = state.end < 0 ? count : state.end;
    const residual = state.residual < 0 ? one.options.residual : state.residual;
    if (why === null) {
      out.push(
        <Slider
          label="First layer"
          value={begin}
          least={0}
          most={count - 1}
          step={1}
          shown={String(first + begin)}
          take={(value) => session.update({ begin: value || -1, end: end <= value ? value + 1 : state.end })}
        />,
        <Slider
          label="Last layer"
          value={end - 1}
          least={0}
          most={count - 1}
          step={1}
          shown={String(first + end - 1)}
          take={(value) =>
            session.update({
              end: value === count - 1 ? -1 : value + 1,
              begin: begin > value ? value : state.begin,
            })
          }
        />,
        <Slider
          label="Residual"
          value={residual}
          least={0}
          most={0.95}
          step={0.05}
          shown={residual.toFixed(2)}
          take={(value) => session.update({ residual: value === one.options.residual ? -1 : value })}
        />,
      );
    } else out.push(<p class="soft">The layers are fixed here: {why}.</p>);
    out.push(
      <Slider
        label="Paths from"
        value={Math.log10(state.least)}
        least={-3}
        most={-0.3}
        step={0.05}
        shown={`${written(100 * state.least)} %`}
        take={(value) => session.update({ least: Number((10 ** value).toPrecision(2)) })}
      />,
    );
    if (why === null && (state.begin >= 0 || state.end >= 0 || state.residual >= 0))
      out.push(
        <button onClick={() => session.update({ begin: -1, end: -1, residual: -1 })}>As computed</button>,
        <span class="soft">Computed in the page, from maps that are stored in fewer digits.</span>,
      );
  }
  return <div class="toolbar">{out}</div>;
}
