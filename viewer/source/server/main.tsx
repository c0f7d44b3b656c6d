import { whole } from "../draw";
import { h, render } from "../jsx";
import "../parts/arcs";
import "../parts/compare";
import "../parts/layers";
import "../parts/patches";
import "../parts/picture";
import "../parts/result";
import "../parts/tables";
import "../parts/text";
import { ServerApp } from "./app";
import { fetchMenu, takeToken } from "./client";

const root = document.getElementById("app")!;
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
whole().dataset["theme"] = dark ? "dark" : "light";
const token = takeToken();
fetchMenu(token).then(
  (menu) => {
    root.textContent = "";
    render(<ServerApp menu={menu} token={token} />, root);
  },
  (error: Error) => (root.textContent = error.message),
);
