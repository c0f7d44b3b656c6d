import { start } from "./app";
import type { Page } from "./contract";
import { Session } from "./session";

const page = JSON.parse(document.getElementById("data")!.textContent!) as Page;
const session = new Session(page, location.hash);
const root = document.getElementById("app")!;
document.documentElement.dataset["theme"] = session.dark ? "dark" : "light";
root.textContent = "Unpacking\u2026";
void session.load().then(() => {
  root.textContent = "";
  start(session, root);
});
