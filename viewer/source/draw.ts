// What the views that draw themselves have in common.
import { round } from "./numbers";

/** The namespace of elements of SVG. */
export const SVG = "http://www.w3.org/2000/svg";

export type Pen = CanvasRenderingContext2D;

/** The element that everything is in, which knows the theme. */
export const whole = () => document.documentElement;

/** A new element. */
export function made<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = "",
  text = "",
): HTMLElementTagNameMap[Tag] {
  return Object.assign(document.createElement(tag), { className, textContent: text });
}

type Handlers = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

/** Returns what ends it. */
export function on(target: EventTarget, handlers: Handlers): () => void {
  const end = new AbortController();
  for (const [name, handler] of Object.entries(handlers))
    target.addEventListener(name, handler as (event: Event) => void, {
      passive: name === "scroll",
      signal: end.signal,
    });
  return () => end.abort();
}

/** Where an element is in the window. */
export const placed = (element: Element) => element.getBoundingClientRect();

/** Calls `draw` whenever the element gets another size. */
export function onResize(element: Element, draw: () => void): void {
  new ResizeObserver(draw).observe(element);
}

export function say(element: Element, label: string): void {
  element.setAttribute("aria-label", label);
}

/** Pixels of the page in those of the screen. */
export const inDots = (pixels: number) => round(pixels * devicePixelRatio);

/** This empties the canvas. */
export function resize(canvas: HTMLCanvasElement, width: number, height: number): void {
  canvas.width = width;
  canvas.height = height;
}

/** What draws on a canvas of this many pixels of the page; the canvas is empty. */
export function penOn(canvas: HTMLCanvasElement, wide: number, high: number): Pen {
  const [width, height] = [inDots(wide), inDots(high)];
  if (canvas.width !== width || canvas.height !== height) resize(canvas, width, height);
  Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
  const pen = canvas.getContext("2d")!;
  pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  return pen;
}

/** A colour of the style sheet, such as "--ink", light or dark. */
export const ink = (name: string): string => getComputedStyle(whole()).getPropertyValue(name).trim();

/** The outline of a rectangle. */
export function outline(
  pen: Pen,
  colour: string,
  thick: number,
  ...place: [x: number, y: number, wide: number, high: number]
): void {
  pen.strokeStyle = ink(colour);
  pen.lineWidth = thick;
  pen.strokeRect(...place);
}

/** For names beside a plot. */
export function penForLabels(pen: Pen): void {
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.fillStyle = ink("--soft");
}
