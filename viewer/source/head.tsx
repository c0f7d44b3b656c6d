// The head of a result: what it is, which one of several, export, theme, help and the command that makes it.
import { type Child, h, useEffect, useRef, useState } from "./jsx";
import { Choice } from "./choice";
import { copy } from "./copy";
import { keysOf } from "./keys";
import { parts } from "./parts";
import type { Session } from "./session";

function CopyButton({ text }: { text: string }) {
  const [done, setDone] = useState("");
  return (
    <button
      onclick={async () => {
        setDone((await copy(text)) ? "Copied" : "Not allowed here");
        setTimeout(() => setDone(""), 1500);
      }}
    >
      {done || "Copy command"}
    </button>
  );
}

export function ExportMenu<Format extends string>(props: {
  session: Session;
  formats: readonly (readonly [Format, string])[];
  save: (format: Format) => unknown;
}) {
  return (
    <Choice<Format | "">
      called="Export"
      quiet
      id={props.session.place.name + "export"}
      chosen=""
      words={[["", "Export\u2026"], ...props.formats]}
      take={(format) => format && props.save(format)}
    />
  );
}

export function Head({
  session,
  help,
  children,
}: {
  session: Session;
  help: () => void;
  children?: Child; // more to do with the result
}) {
  const { item, page, state } = session;
  const command = item.command ?? page.command;
  const { Picker } = parts.several ?? {};
  return (
    <header>
      <div class="top">
        <div>
          <h1>{item.title}</h1>
          <p class="details">{item.details.join(" \u00b7 ")}</p>
          {item.about && <p class="about">{item.about}</p>}
        </div>
        <div class="actions">
          {Picker && <Picker session={session} />}
          {children}
          {!session.place.name && (
            <button
              onclick={() =>
                session.update({
                  theme: state.theme === "system" ? (session.dark ? "light" : "dark") : "system",
                })
              }
              title="Key: l"
            >
              {`Theme: ${state.theme}`}
            </button>
          )}
          <button onclick={help} aria-label="Keys" title="Key: ?">
            ?
          </button>
        </div>
      </div>
      {command && (
        <div class="command">
          <code tabIndex={0}>{command}</code>
          <CopyButton text={command} />
        </div>
      )}
    </header>
  );
}

export function Help({ session, close }: { session: Session; close: () => void }) {
  const dialog = useRef<HTMLDialogElement | null>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} onclose={close} aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {keysOf(session).map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <button onclick={close}>Close</button>
    </dialog>
  );
}
