// The page of a server: a form, what became of the last question, and one or two results.
import { h, useEffect, useRef, useState } from "../jsx";
import { App } from "../app";
import { Segments } from "../controls";
import { type Session, sessionOf } from "../session";
import { kept } from "../kept";
import { ask } from "./client";
import type { Line, Menu } from "./contract";
import { type Draft, methodsFor, modelOf, questionOf, summary } from "./draft";
import { Form } from "./form";
import { readHistory, withDraft, writeHistory } from "./history";
import { read } from "./upload";

const PAUSE = 40; // milliseconds after a key, before it is asked
const PATIENCE = 250; // milliseconds, before a page says that it is waiting
const QUICK = 400; // milliseconds: what twice took longer is only computed when asked for

interface Pane {
  draft: Draft;
  session: Session | null;
}

interface Status {
  line: Line;
  busy: boolean;
}

function kindOf({ model, method }: Draft): string {
  return `${model} ${method}`;
}

function firstDraft(menu: Menu): Draft {
  const model = menu.models[0];
  return {
    model: model?.name ?? "",
    method: "rollout",
    text: model?.texts[0] ?? "",
    pair: "",
    options: {},
    upload: null,
    example: model?.images.length ? 0 : -1,
  };
}

/** The draft with what goes together: a method that the model has, and an input that it takes. */
function fitting(draft: Draft, menu: Menu, before: Draft): Draft {
  const model = modelOf(draft, menu);
  const methods = methodsFor(model, menu);
  const out = { ...draft };
  if (!methods.includes(out.method)) out.method = methods[0]!;
  if (model?.sees === "image" && out.example < 0 && model.images.length) out.example = 0;
  // Another model brings its example; whoever empties the field wants to type.
  if (model?.sees === "text" && draft.model !== before.model && !out.text) out.text = model.texts[0] ?? "";
  if (out.upload?.kind === "image" && model?.sees === "text") out.upload = null;
  return out;
}

export function ServerApp({ menu, token }: { menu: Menu; token: string }) {
  const [panes, setPanes] = useState<Pane[]>(() => [{ draft: firstDraft(menu), session: null }]);
  const [focus, setFocus] = useState(0);
  const [status, setStatus] = useState<Status>({ line: {}, busy: false });
  const [history, setHistory] = useState(readHistory);
  const running = useRef<AbortController | null>(null);
  const timer = useRef(0);
  const slow = useRef(new Map<string, number>()); // slow answers in a row; the first one opens a model
  const draft = panes[focus]!.draft;

  const setPane = (k: number, change: Partial<Pane>) =>
    setPanes((now) => now.map((pane, at) => (at === k ? { ...pane, ...change } : pane)));

  const run = async (asked: Draft, k: number) => {
    clearTimeout(timer.current);
    running.current?.abort();
    const question = questionOf(asked, menu);
    if (!question) return setStatus({ line: { text: "Type a text." }, busy: false });
    const control = (running.current = new AbortController());
    const begun = performance.now();
    setStatus({ line: {}, busy: true });
    try {
      await ask(question, token, control.signal, (line) => {
        if (control.signal.aborted) return;
        setStatus({ line, busy: true });
        if (line.page) void show(asked, k, line.page, control.signal);
      });
      if (control.signal.aborted) return;
      const before = slow.current.get(kindOf(asked)) ?? 0;
      slow.current.set(kindOf(asked), performance.now() - begun > QUICK ? before + 1 : 0);
      setStatus(({ line }) => ({ line: line.error ? line : {}, busy: false }));
    } catch (error) {
      if (!control.signal.aborted) setStatus({ line: { error: (error as Error).message }, busy: false });
    }
  };

  const show = async (asked: Draft, k: number, page: Session["page"], signal: AbortSignal) => {
    const before = panes[k]?.session ?? null;
    const session = sessionOf(
      page,
      "",
      { name: k ? "second" : "", linked: false },
      before ? kept(before.state) : {},
    );
    await session.load();
    if (signal.aborted) return;
    setPane(k, { session });
    setHistory((now) => {
      const next = withDraft(now, asked);
      writeHistory(next);
      return next;
    });
  };

  const change = (part: Partial<Draft>, now = false) => {
    const next = fitting({ ...draft, ...part }, menu, draft);
    setPane(focus, { draft: next });
    clearTimeout(timer.current);
    const waits = next.method === "generate" || slow.current.get(kindOf(next))! > 1;
    if (now && next.method !== "generate") void run(next, focus);
    else if (!waits) timer.current = window.setTimeout(() => void run(next, focus), PAUSE);
    else {
      running.current?.abort();
      setStatus({ line: { text: "Press Enter or Ask to compute this." }, busy: false });
    }
  };

  const cancel = () => {
    running.current?.abort();
    setStatus({ line: { text: "" }, busy: false });
  };

  const take = async (file: File) => {
    try {
      const upload = await read(file);
      const image = upload.kind === "image";
      const sees = menu.models.find(({ sees }) => sees === "image");
      if (image && !sees) throw new Error(`${file.name}: no model here takes images.`);
      if (!image && !menu.files) throw new Error(`${file.name}: this page takes texts alone.`);
      const model =
        image && modelOf({ ...draft, upload: null }, menu)?.sees !== "image" ? sees!.name : draft.model;
      change({ upload, model }, true);
    } catch (error) {
      setStatus({ line: { error: (error as Error).message }, busy: false });
    }
  };

  useEffect(() => void run(draft, 0), []);
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void take(file);
    };
    addEventListener("dragover", over);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", drop);
    };
  });
  // The second result is as dark as the first.
  const first = panes[0]!.session;
  const second = panes[1]?.session;
  useEffect(() => first?.onChange(() => second?.update({})), [first, second]);

  return (
    <>
      <header class="ask">
        <Form
          menu={menu}
          draft={draft}
          change={change}
          run={() => void run(draft, focus)}
          take={(file) => void take(file)}
          history={history}
        >
          {panes.length > 1 ? (
            <>
              <Segments
                called="Which result changes"
                chosen={String(focus)}
                words={[
                  ["0", "Change the left"],
                  ["1", "Change the right"],
                ]}
                take={(k) => setFocus(Number(k))}
              />
              <button
                type="button"
                onclick={() => {
                  setPanes((now) => now.slice(0, 1));
                  setFocus(0);
                }}
              >
                Close the right
              </button>
            </>
          ) : (
            first && (
              <button
                type="button"
                onclick={() => {
                  setPanes((now) => [...now, { draft, session: null }]);
                  setFocus(1);
                }}
              >
                Ask again beside it
              </button>
            )
          )}
        </Form>
        <StatusLine status={status} cancel={cancel} />
      </header>
      <main class={panes.length > 1 ? "panes two" : "panes"}>
        {panes.map(({ session, draft: asked }, k) => (
          <div key={k} class="place">
            {session ? (
              nodeOf(session)
            ) : (
              <p class="soft">{k ? `Change what is asked: ${summary(asked)}` : "Type a text."}</p>
            )}
          </div>
        ))}
      </main>
      <footer>headwater {menu.headwater}. It runs on this machine, and nothing leaves it.</footer>
    </>
  );
}

// A new result is drawn anew. One that stands is left alone while the form and the progress of the next one change.
const nodes = new WeakMap<Session, h.JSX.Element>();
let count = 0;
function nodeOf(session: Session): h.JSX.Element {
  if (!nodes.has(session)) nodes.set(session, <App key={++count} session={session} />);
  return nodes.get(session)!;
}

function StatusLine({ status: { line, busy }, cancel }: { status: Status; cancel: () => void }) {
  const [what, done, total] = line.progress ?? ["", 0, 0];
  // Quick answers come without a word about them, so that nothing moves while somebody types.
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!busy) return setLate(false);
    const wait = setTimeout(() => setLate(true), PATIENCE);
    return () => clearTimeout(wait);
  }, [busy]);
  return (
    <div class="status" role="status">
      {line.error && <p class="error">{line.error.replaceAll("`", "")}</p>}
      {!busy && line.text && <p class="soft">{line.text}</p>}
      {busy && late && (
        <>
          {line.progress ? (
            <>
              <progress max={total} value={done} aria-label={`${what}s`} />
              <span>
                {what} {done} of {total}
              </span>
            </>
          ) : (
            <span>{line.text ?? "Computing\u2026"}</span>
          )}
          <button onclick={cancel}>Cancel</button>
        </>
      )}
    </div>
  );
}
