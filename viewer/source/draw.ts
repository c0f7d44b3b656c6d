// What the views that draw themselves have in common.

/** A new element. */
export function made<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = "",
  text = "",
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

type Handlers = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

export function on(element: HTMLElement, handlers: Handlers): void {
  for (const [name, handler] of Object.entries(handlers))
    element.addEventListener(name, handler as (event: Event) => void, { passive: name === "scroll" });
}

/** Calls `draw` whenever the element gets another size. */
export function onResize(element: Element, draw: () => void): void {
  new ResizeObserver(draw).observe(element);
}

export function say(element: Element, label: string): void {
  element.setAttribute("aria-label", label);
}

/** What draws on a canvas of this many pixels of the page; the canvas is empty. */
export function penOn(canvas: HTMLCanvasElement, wide: number, high: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(wide * ratio), Math.round(high * ratio)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
  const pen = canvas.getContext("2d")!;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  return pen;
}

/** A colour of the style sheet, light or dark. */
export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
