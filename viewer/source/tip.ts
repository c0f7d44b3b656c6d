// The small box beside the pointer.
let box: HTMLElement | null = null;

export function showTip(x: number, y: number, lines: string[]): void {
  if (!box) {
    box = document.createElement("div");
    box.className = "tip";
    box.setAttribute("aria-hidden", "true"); // the ranking says the same
    document.body.append(box);
  }
  box.replaceChildren(
    ...lines.map((line, k) => {
      const element = document.createElement(k ? "div" : "b");
      element.textContent = line;
      return element;
    }),
  );
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
  box.style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
}

export function hideTip(): void {
  if (box) box.hidden = true;
}
