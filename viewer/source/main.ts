import { start } from "./app";
import type { Page } from "./contract";
import { whole } from "./draw";
import { sessionOf } from "./session";

const page = JSON.parse(document.getElementById("data")!.textContent!) as Page;
const session = sessionOf(page, location.hash);
const root = document.getElementById("app")!;
whole().dataset["theme"] = session.dark ? "dark" : "light";
void session.load(); // the parts of the page that need no values are made meanwhile
// Once all scripts have run.
queueMicrotask(() => start(session, root));
