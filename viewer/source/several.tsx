// A page of several results: one of them, and another beside it if the reader asks for it.
import { h, useEffect, useState } from "./jsx";
import { App, useRedraw } from "./app";
import { Choice } from "./choice";
import { type Session, sessionOf } from "./session";
import { kept } from "./kept";

interface With {
  session: Session;
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

/** Which result, in the head of each. */
export function Picker({ session }: With) {
  const { page, state } = session;
  const words = page.items.map((one, k) => [k, `${k + 1}: ${one.about ?? snippet(one)}`] as const);
  const step = (by: number, sign: string, name: string) => (
    <button disabled={!page.items[state.item + by]} onclick={() => session.update({ item: state.item + by })}>
      {sign}
      <span class="away">{name}</span>
    </button>
  );
  return (
    <>
      <div class="segments" role="group" aria-label="Result">
        {step(-1, "\u2039", "Previous")}
        <Choice
          called="Item"
          quiet
          chosen={state.item}
          words={words}
          take={(item) => session.update({ item })}
        />
        {step(1, "\u203a", "Next")}
      </div>
      {session.place.linked && (
        <Choice
          called="Beside it"
          id="beside"
          chosen={state.beside}
          words={[[-1, "nothing"], ...words]}
          take={(beside) => session.update({ beside })}
        />
      )}
    </>
  );
}

/** The page: its result and, if the reader asks for it, another one beside it. */
export function Several({ session }: With) {
  useRedraw(session);
  const [second, setSecond] = useState<Session | null>(null);
  const { beside } = session.state;
  const there = beside >= 0 && beside < session.page.items.length;
  useEffect(() => {
    if (!there) return setSecond(null);
    const place = { name: "second", linked: false };
    const other = sessionOf(session.page, `#item=${beside}`, place, kept(session.state));
    let stale = false;
    void other.load().then(() => stale || setSecond(other));
    const end = session.onChange(() => other.update({})); // as dark as the first
    return () => {
      stale = true;
      end();
    };
  }, [there ? beside : -1]);
  return (
    <div class={second && "panes two"}>
      <App session={session} />
      {second && (
        <aside aria-label="Second result">
          <App key={beside} session={second} />
        </aside>
      )}
    </div>
  );
}
