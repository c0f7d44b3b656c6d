// The head of a result: what it is, which one of several, export, theme, help and the command that makes it.
import { useEffect, useRef, useState } from "preact/hooks";
import { copy, FORMATS, save, type Views } from "./export";
import { KEYS } from "./keys";
import type { Session } from "./session";

function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState("");
  return (
    <button
      onClick={async () => {
        setDone((await copy(text)) ? "Copied" : "Not allowed here");
        setTimeout(() => setDone(""), 1500);
      }}
    >
      {done || label}
    </button>
  );
}

export function Head({
  session,
  help,
  views,
}: { session: Session } & { help: () => void; views: Views | null }) {
  const { item, page, state } = session;
  const details = [...item.details];
  const theme = { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" } as const;
  return (
    <header>
      <div class="top">
        <div>
          <h1>{item.title}</h1>
          <p class="details">{details.join(" \u00b7 ")}</p>
          {item.about && <p class="about">{item.about}</p>}
        </div>
        <div class="actions">
          {page.items.length > 1 && (
            <div class="segments" role="group" aria-label="Result">
              <button disabled={state.item === 0} onClick={() => session.update({ item: state.item - 1 })}>
                {"\u2039"}
                <span class="away">The one before</span>
              </button>
              <select
                aria-label="Item"
                value={String(state.item)}
                onChange={(event) => session.update({ item: Number(event.currentTarget.value) })}
              >
                {page.items.map((one, k) => (
                  <option key={k} value={String(k)}>
                    {`${k + 1}: ${one.about ?? snippet(one)}`}
                  </option>
                ))}
              </select>
              <button
                disabled={state.item === page.items.length - 1}
                onClick={() => session.update({ item: state.item + 1 })}
              >
                {"\u203a"}
                <span class="away">The next one</span>
              </button>
            </div>
          )}
          {page.items.length > 1 && session.place.linked && (
            <label class="field">
              <span class="away">Beside it</span>
              <select
                id="beside"
                value={String(state.beside)}
                onChange={(event) => session.update({ beside: Number(event.currentTarget.value) })}
              >
                <option value="-1">Beside it: nothing</option>
                {page.items.map((one, k) => (
                  <option key={k} value={String(k)}>
                    {`${k + 1}: ${one.about ?? snippet(one)}`}
                  </option>
                ))}
              </select>
            </label>
          )}
          {views && (
            <label class="field">
              <span class="away">Export</span>
              <select
                id={session.place.name + "export"}
                value=""
                onChange={(event) => {
                  const format = event.currentTarget.value as (typeof FORMATS)[number][0];
                  event.currentTarget.value = "";
                  void save(session, views, format);
                }}
              >
                <option value="">Export&hellip;</option>
                {FORMATS.map(([format, name]) => (
                  <option key={format} value={format}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          {!session.place.name && (
            <button
              onClick={() =>
                session.update({
                  theme: state.theme === "system" ? (session.dark ? "light" : "dark") : "system",
                })
              }
              title="Key: l"
            >
              {theme[state.theme]}
            </button>
          )}
          <button onClick={help} aria-label="Keys" title="Key: ?">
            ?
          </button>
        </div>
      </div>
      {page.command && (
        <div class="command">
          <code tabIndex={0}>{page.command}</code>
          <CopyButton text={page.command} label="Copy" />
        </div>
      )}
    </header>
  );
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

export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <button onClick={close}>Close</button>
    </dialog>
  );
}
