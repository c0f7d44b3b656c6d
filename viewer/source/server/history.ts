// Earlier inputs, for as long as the tab is open.
import { type Draft, summary } from "./draft";

const KEPT = "headwater-history";
const MOST = 30;

/** The drafts, newest first, each once. */
export function withDraft(history: Draft[], draft: Draft): Draft[] {
  const name = summary(draft);
  const last = history[0];
  // What was typed on the way to a text is not worth keeping.
  const grown =
    last && last.model === draft.model && last.method === draft.method && draft.text.startsWith(last.text);
  const others = history.slice(grown ? 1 : 0).filter((one) => summary(one) !== name);
  return [draft, ...others].slice(0, MOST);
}

export function readHistory(): Draft[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "[]") as Draft[];
  } catch {
    return [];
  }
}

/** Files are not kept: they are large, and they can be dropped again. */
export function writeHistory(history: Draft[]): void {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(history.filter((one) => !one.upload)));
  } catch {
    // a history that cannot be kept is still there until the page is reloaded
  }
}
