// The page: a head, controls and views.
import { h, render, useEffect, useRef, useState } from "./jsx";
import { on, whole } from "./draw";
import { Head, Help } from "./head";
import { activate, listen } from "./keys";
import { parts } from "./parts";
import { type Session, SYSTEM } from "./session";

interface With {
  session: Session;
}

export function useRedraw(session: Session, hover = false) {
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

/** The name before its ids, and the element that holds its views: a document has one main part. */
export const placeOf = (session: Session): { name: string; Body: "main" | "div" } => ({
  name: session.place.name,
  Body: session.place.linked ? "main" : "div",
});

/** One result. The parts that it needs are there: whoever wrote the page saw to it. */
export function App({ session }: With) {
  useRedraw(session);
  const [help, setHelp] = useState(false);
  const { item } = session;
  const { name, Body } = placeOf(session);
  const open = useRef(help);
  open.current = help;
  useEffect(() => {
    if (name) return;
    whole().dataset["theme"] = session.dark ? "dark" : "light";
    document.title = `${item.title} \u2013 ${item.details[0] ?? ""}`;
  });
  useEffect(() => {
    const found = (id: string) => document.getElementById(name + id);
    const endKeys = listen(session, {
      help: () => setHelp((shown) => !shown),
      export: () => found("export")?.focus(),
      search: () => found("search")?.focus(),
      focus: (view) => {
        const section = found(`view${view}`);
        section?.scrollIntoView({ block: "nearest" });
        section?.querySelector<HTMLElement>("[tabindex='0'], canvas, input, button")?.focus();
      },
      close: () => open.current,
    });
    const endTheme = on(SYSTEM, { change: () => session.update({}) });
    return () => {
      endKeys();
      endTheme();
    };
  }, [session]);
  const ask = () => setHelp(true);
  const { Result } = parts.result ?? {};
  const { EvaluationView, TableView, Records } = parts.tables ?? {};
  return (
    <div class="pane" onpointerenter={() => activate(session)} onfocusin={() => activate(session)}>
      {Result && session.shows ? (
        <Result session={session} help={ask} />
      ) : (
        <Head session={session} help={ask}>
          {Records && <Records session={session} />}
        </Head>
      )}
      <div id={`${name}tables`}>
        {EvaluationView && item.kind === "evaluation" && <EvaluationView item={item} Body={Body} />}
        {TableView && item.kind === "table" && <TableView item={item} Body={Body} />}
      </div>
      {session.place.linked && <footer>headwater {session.page.headwater}. Nothing leaves this page.</footer>}
      {help && <Help session={session} close={() => setHelp(false)} />}
    </div>
  );
}

export function start(session: Session, root: HTMLElement): void {
  const Page = parts.several?.Several ?? App;
  render(<Page session={session} />, root);
}
