// The small box beside the pointer.
import { made, placed } from "./draw";
import { clamp } from "./numbers";
import type { Session } from "./session";

let box: HTMLElement | null = null;

export function showTip(
  { clientX: x, clientY: y }: { clientX: number; clientY: number },
  lines: string[],
): void {
  if (!box) {
    box = made("div", "tip");
    box.ariaHidden = "true"; // the ranking says the same
    document.body.append(box);
  }
  box.replaceChildren(...lines.map((line, k) => made(k ? "div" : "b", "", line)));
  box.hidden = false;
  const { width, height } = placed(box);
  box.style.left = `${clamp(x + 14, 4, innerWidth - width - 4)}px`;
  box.style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
}

export function hideTip(): void {
  if (box) box.hidden = true;
}

/** The pointer is on nothing that could be asked about. */
export function leave(session: Session): void {
  hideTip();
  session.hover(null);
}
