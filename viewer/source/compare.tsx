// Which of several results, and how well two of them agree.
import { Fragment, h } from "./jsx";
import { Choice, named, Segments } from "./controls";
import { rankCorrelation } from "./correlation";
import type { Session } from "./session";

export function Compare({ session }: { session: Session }) {
  const { compared, state } = session;
  if (!compared) return null;
  const names = compared.panels.map((panel, k) => [String(k), panel.label] as const);
  const agreement = compared.agreement[state.a]?.[state.b];
  const { question } = session.answer;
  const both = session.bothLenses;
  const [a, b] = both ? both.map((lens) => session.valuesOf(question, lens)) : [];
  const isRow = question.units.length === 1 && question.ask === "from";
  const here = a && b && isRow ? rankCorrelation(a, b) : NaN;
  return (
    <div class="toolbar compare" role="toolbar" aria-label={named(session, "Compare")}>
      {(["a", "b"] as const).map((which) => (
        <Choice
          label={which.toUpperCase()}
          value={String(state[which])}
          words={names}
          take={(panel) => session.update({ [which]: Number(panel) })}
        />
      ))}
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
          {!isNaN(here) && (
            <>
              , <b>{here.toFixed(2)}</b> here
            </>
          )}
        </span>
      )}
    </div>
  );
}
