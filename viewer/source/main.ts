import { start } from "./app";
import type { Page } from "./contract";
import { Session } from "./session";

const page = JSON.parse(document.getElementById("data")!.textContent!) as Page;
const session = new Session(page, location.hash);
start(session, document.getElementById("app")!);
void session.load();
