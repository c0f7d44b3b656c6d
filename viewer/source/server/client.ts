// Requests to the server that the page came from.
import type { Line, Menu } from "./contract";

// Kept for a reload of this tab; it is in no address, so that no link can carry it away.
const KEPT = "headwater-token";

/** The token that the address brought, which it then loses. */
export function takeToken(): string {
  const found = /[#&]token=([0-9a-f]{32})/.exec(location.hash)?.[1];
  if (!found) return sessionStorage.getItem(KEPT) ?? "";
  sessionStorage.setItem(KEPT, found);
  history.replaceState(null, "", location.pathname);
  return found;
}

async function post(place: string, token: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(place, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Headwater-Token": token },
      body: JSON.stringify(body),
      credentials: "omit",
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

export async function fetchMenu(token: string): Promise<Menu> {
  return (await post("/menu", token, {})).json() as Promise<Menu>;
}

/** Calls `take` for each line of the answer as it comes. */
export async function ask(
  question: object,
  token: string,
  signal: AbortSignal,
  take: (line: Line) => void,
): Promise<void> {
  const response = await post("/ask", token, question, signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let parts: string[] = [];
  let ended = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = value.split("\n");
    parts.push(lines[0]!);
    for (const next of lines.slice(1)) {
      const line = JSON.parse(parts.join("")) as Line;
      ended ||= line.page !== undefined || line.error !== undefined;
      take(line);
      parts = [next];
    }
  }
  if (!ended) throw new Error("The server ended before its answer did.");
}
