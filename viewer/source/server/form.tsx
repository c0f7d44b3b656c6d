// What to ask: a model, an input, a method and its options.
import { type Child, h } from "../jsx";
import type { Menu } from "./contract";
import { type Draft, methodsFor, modelOf, OPTIONS, optionsFor, summary, takesFiles } from "./draft";

export interface FormProps {
  menu: Menu;
  draft: Draft;
  change: (change: Partial<Draft>, now?: boolean) => void;
  run: () => void;
  take: (file: File) => void;
  history: Draft[];
  children?: Child; // after what asks
}

function Select(props: {
  label: string;
  about?: string;
  value: string;
  words: readonly string[];
  take: (word: string) => void;
}) {
  return (
    <label class="field" title={props.about}>
      <span>{props.label}</span>
      <select value={props.value} onchange={(event) => props.take(event.currentTarget.value)}>
        {props.words.map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

function OptionField({ name, draft, menu, change }: FormProps & { name: string }) {
  const option = OPTIONS[name]!;
  const words = option.words(modelOf(draft, menu), draft, menu);
  const value = draft.options[name] ?? "";
  const set = (text: string) => change({ options: { ...draft.options, [name]: text } });
  if (option.closed)
    return (
      <Select
        label={option.label}
        about={option.about}
        value={value || option.hint || words[0] || ""}
        words={words}
        take={set}
      />
    );
  return (
    <label class="field" title={option.about}>
      <span>{option.label}</span>
      <input
        class="option"
        list={words.length ? `words-${name}` : undefined}
        placeholder={option.hint}
        value={value}
        autocomplete="off"
        spellcheck="false"
        oninput={(event) => set(event.currentTarget.value)}
      />
      {words.length > 0 && (
        <datalist id={`words-${name}`}>
          {words.map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
    </label>
  );
}

function Input(props: FormProps) {
  const { draft, menu, change, run } = props;
  const model = modelOf(draft, menu);
  if (draft.upload)
    return (
      <p class="dropped">
        {draft.upload.kind === "image" ? "Image" : "File"} <b>{draft.upload.name}</b>{" "}
        <button type="button" onclick={() => change({ upload: null }, true)}>
          Remove
        </button>
      </p>
    );
  if (model?.sees === "image")
    return (
      <p class="dropped">
        Drop an image here, or take an example:{" "}
        {model.images.map((name, k) => (
          <button
            key={name}
            type="button"
            aria-pressed={draft.example === k}
            onclick={() => change({ example: k }, true)}
          >
            {name}
          </button>
        ))}
      </p>
    );
  return (
    <textarea
      aria-label={draft.method === "generate" ? "Prompt" : "Text"}
      rows={Math.min(8, Math.max(2, Math.ceil(draft.text.length / 110)))}
      placeholder={
        draft.method === "generate"
          ? "Type a prompt. Enter asks, Shift+Enter starts a new line."
          : takesFiles(menu)
            ? "Type a text, or drop an image or a file of attention here."
            : "Type a text."
      }
      value={draft.text}
      oninput={(event) => change({ text: event.currentTarget.value })}
      onkeydown={(event) => {
        if (event.key !== "Enter" || event.shiftKey) return;
        event.preventDefault();
        run();
      }}
    />
  );
}

export function Form(props: FormProps) {
  const { menu, draft, change, history } = props;
  const model = modelOf(draft, menu);
  const examples = draft.upload || model?.sees !== "text" ? [] : model.texts;
  const short = (text: string) => (text.length > 60 ? text.slice(0, 59) + "\u2026" : text);
  return (
    <form
      class="form"
      onsubmit={(event) => {
        event.preventDefault();
        props.run();
      }}
    >
      <div class="toolbar">
        {model && (
          <Select
            label="model"
            about={model.about}
            value={draft.model}
            words={menu.models.map(({ name }) => name)}
            take={(name) => change({ model: name }, true)}
          />
        )}
        <Select
          label="method"
          value={draft.method}
          words={methodsFor(model, menu)}
          take={(method) => change({ method, options: keptOptions(draft) }, true)}
        />
        {examples.length > 0 && (
          <label class="field">
            <span class="away">Example</span>
            <select
              class="short"
              value=""
              onchange={(event) => change({ text: examples[Number(event.currentTarget.value)]! }, true)}
            >
              <option value="">Examples&hellip;</option>
              {examples.map((text, k) => (
                <option key={k} value={String(k)}>
                  {short(text)}
                </option>
              ))}
            </select>
          </label>
        )}
        {history.length > 0 && (
          <label class="field">
            <span class="away">Earlier</span>
            <select
              id="history"
              class="short"
              value=""
              onchange={(event) => change(history[Number(event.currentTarget.value)]!, true)}
            >
              <option value="">Earlier&hellip;</option>
              {history.map((one, k) => (
                <option key={k} value={String(k)}>
                  {summary(one)}
                </option>
              ))}
            </select>
          </label>
        )}
        {takesFiles(menu) && (
          <label class="file">
            Open a file&hellip;
            <input
              class="away"
              type="file"
              aria-label="A file of attention, or an image"
              accept=".npy,.npz,.safetensors,.json,image/png,image/jpeg"
              onchange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file) props.take(file);
                event.currentTarget.value = "";
              }}
            />
          </label>
        )}
      </div>
      <Input {...props} />
      <div class="toolbar">
        {optionsFor(draft, menu).map((name) => (
          <OptionField key={name} name={name} {...props} />
        ))}
        <button type="submit">Ask</button>
        {props.children}
      </div>
    </form>
  );
}

/** Rules differ from method to method; the rest may stay as it was. */
function keptOptions(draft: Draft): Draft["options"] {
  const { rule: _, ...rest } = draft.options;
  return rest;
}
