// Which of several results, and how well two of them agree.
import { h } from "./jsx";
import { Choice } from "./choice";
import { named, Segments } from "./controls";
import { rankCorrelation } from "./correlation";
import type { Session } from "./session";

export function Compare({ session }: { session: Session }) {
  const { compared, state } = session;
  if (!compared) return null;
  const names = compared.panels.map((panel, k) => [k, panel.label] as const);
  const agreement = compared.agreement[state.a]?.[state.b];
  const { asked: question } = session.answer;
  const both = session.bothLenses;
  const [a, b] = both ? both.map((lens) => session.valuesOf(question, lens)) : [];
  const isRow = question.units.length === 1 && question.ask === "from";
  const here = a && b && isRow ? rankCorrelation(a, b) : NaN;
  return (
    <div class="toolbar compare" role="toolbar" aria-label={named(session, "Compare")}>
      {(["a", "b"] as const).map((which) => (
        <Choice
          called={which.toUpperCase()}
          chosen={state[which]}
          words={names}
          take={(panel) => session.update({ [which]: panel })}
        />
      ))}
      <Segments
        called="Show"
        chosen={state.show}
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
