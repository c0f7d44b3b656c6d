// JSX for the controls: elements, components that are functions, and what a component remembers between two calls.
// A component is called again when its own state changes, and only what differs is written to the document. Texts,
// the matrix and graphs draw themselves; they come nowhere near this.
import { SVG } from "./draw";

export type Child = Node | string | number | boolean | null | undefined | Child[];
type Props = Record<string, unknown>;
type Component = (props: never) => Child;

interface Node {
  type: string | Component | null; // null: a fragment
  props: Props;
  children: Child[];
}

type Handlers<E> = {
  [K in keyof HTMLElementEventMap as `on${K}`]?: (
    event: HTMLElementEventMap[K] & { currentTarget: E },
  ) => unknown;
};
type Attributes<E> = Handlers<E> & { ref?: { current: E | null } } & { [name: string]: unknown };

export declare namespace h {
  namespace JSX {
    type Element = Node;
    interface ElementChildrenAttribute {
      children: unknown;
    }
    interface IntrinsicAttributes {
      key?: string | number; // another key is another element
    }
    type IntrinsicElements = {
      [T in keyof HTMLElementTagNameMap]: Attributes<HTMLElementTagNameMap[T]>;
    } & { [T in Exclude<keyof SVGElementTagNameMap, keyof HTMLElementTagNameMap>]: Attributes<SVGElement> };
  }
}

/** `props`: null or, once it is built, 0 where there are none. */
export const h = (type: Node["type"], props: Props | null | 0, ...children: Child[]): Node => ({
  type,
  props: props || {},
  children,
});

interface Effect {
  run: () => unknown;
  deps: unknown[] | undefined;
  end: unknown; // what the last run returned: a function ends it
}

// What stands in the document for a child.
interface Live {
  node: Node | string | null;
  dom: Element | Text | null; // of an element or a text
  kids: Live[];
  up: Live | null;
  memory: unknown[]; // of a component, in the order in which it asks
  gone: boolean;
}

let current: Live;
let asked = 0;
let due: Effect[] = [];

const isNode = (child: Child): child is Node => typeof child === "object" && child !== null;

function normal(child: Child): Node | string | null {
  if (Array.isArray(child)) return h(null, null, ...child);
  if (isNode(child)) return child;
  return child == null || typeof child === "boolean" ? null : `${child}`;
}

function isSame(a: Live["node"], b: Live["node"]): boolean {
  if (!isNode(a) || !isNode(b)) return typeof a === typeof b && isNode(a) === isNode(b);
  return a.type === b.type && keyOf(a) === keyOf(b);
}

const keyOf = (node: Live["node"]): unknown => (isNode(node) ? node.props["key"] : undefined);

function put(dom: Element, name: string, now: unknown, before: unknown): void {
  if (name.startsWith("on")) {
    dom.removeEventListener(name.slice(2), before as EventListener);
    dom.addEventListener(name.slice(2), now as EventListener);
  } else if (name === "style") Object.assign((dom as HTMLElement).style, now);
  else if (name === "ref") (now as { current: unknown }).current = dom;
  else if (name === "value" || name === "checked") {
    const field = dom as unknown as Props;
    if (field[name] !== now) field[name] = now;
  } else if (name !== "key" && name !== "children" && now !== before) {
    const flag = typeof now === "boolean" && !name.includes("-");
    if (now == null || (flag && !now)) dom.removeAttribute(name);
    else dom.setAttribute(name, flag ? "" : `${now}`);
  }
}

const nodesOf = (live: Live): (Element | Text)[] => (live.dom ? [live.dom] : live.kids.flatMap(nodesOf));

/** Puts the children of an element into their places. */
function place(dom: Element, kids: Live[]): void {
  const nodes = kids.flatMap(nodesOf);
  nodes.forEach((node, k) => {
    if (dom.childNodes[k] !== node) dom.insertBefore(node, dom.childNodes[k] ?? null);
  });
}

function stop(effect: Partial<Effect> | null): void {
  if (typeof effect?.end === "function") effect.end();
}

function end(live: Live): void {
  live.gone = true;
  (live.memory as (Partial<Effect> | null)[]).forEach(stop);
  live.kids.forEach(end);
}

function remove(live: Live): void {
  end(live);
  for (const node of nodesOf(live)) node.remove();
}

function renew(live: Live, children: Child[], space: string): void {
  const old = live.kids;
  const taken = new Set<Live>();
  const byKey = new Map(old.map((one) => [keyOf(one.node), one]));
  live.kids = children.map((child, k) => {
    const node = normal(child);
    const key = keyOf(node);
    const like = key === undefined ? old[k] : byKey.get(key);
    const found = like && !taken.has(like) && isSame(like.node, node) ? like : null;
    if (found) taken.add(found);
    return grow(found ?? { node: null, dom: null, kids: [], up: live, memory: [], gone: false }, node, space);
  });
  for (const one of old) if (!taken.has(one)) remove(one);
}

function grow(live: Live, node: Live["node"], space: string): Live {
  const before = live.node;
  live.node = node;
  if (node === null || (isNode(node) && node === before)) return live; // the same node says the same
  if (!isNode(node)) {
    live.dom ??= document.createTextNode(node);
    if ((live.dom as Text).data !== node) (live.dom as Text).data = node;
    return live;
  }
  const { type, props, children } = node;
  if (typeof type === "string") {
    const inside = type === "svg" ? SVG : space;
    const dom = (live.dom ??= document.createElementNS(inside, type)) as Element;
    renew(live, children, inside);
    place(dom, live.kids);
    const old = isNode(before) ? before.props : {};
    for (const name of new Set([...Object.keys(old), ...Object.keys(props)]))
      put(dom, name, props[name], old[name]);
  } else if (type) call(live, space);
  else renew(live, children, space);
  return live;
}

/** Calls a component; its effects are due after those of what it holds. */
function call(live: Live, space: string): void {
  const { type, props, children } = live.node as Node;
  [current, asked] = [live, 0];
  const made = (type as (props: Props) => Child)({ ...props, children });
  renew(live, [made], space);
  for (const effect of live.memory as (Effect | null)[]) if (effect?.run) due.push(effect);
}

function settle(): void {
  const now = due;
  due = [];
  for (const effect of now) {
    const { run } = effect;
    if (!run) continue;
    stop(effect);
    effect.run = null!;
    effect.end = run();
  }
}

const changed = new Set<Live>();

/** Once for all changes of a moment; those above first, because they may call those below as well. */
function again(live: Live): void {
  if (!changed.size)
    queueMicrotask(() => {
      const lives = [...changed];
      changed.clear();
      const depth = (one: Live): number => (one.up ? 1 + depth(one.up) : 0);
      for (const one of lives.sort((a, b) => depth(a) - depth(b))) {
        if (one.gone) continue;
        let above = one.up!;
        while (!above.dom) above = above.up!;
        const dom = above.dom as Element;
        call(one, dom.namespaceURI!);
        place(dom, above.kids);
      }
      settle();
    });
  changed.add(live);
}

function remembered<T>(first: () => T): T {
  const { memory } = current;
  if (asked === memory.length) memory.push(first());
  return memory[asked++] as T;
}

/** What a component remembers, and a function that changes it and calls the component again. */
export function useState<T>(first: T | (() => T)): [T, (next: T | ((now: T) => T)) => void] {
  const live = current;
  const cell = remembered(() => ({ value: first instanceof Function ? first() : first }));
  return [
    cell.value,
    (next) => {
      const value = next instanceof Function ? next(cell.value) : next;
      if (value === cell.value || live.gone) return;
      cell.value = value;
      again(live);
    },
  ];
}

export const useRef = <T>(first: T): { current: T } => remembered(() => ({ current: first }));

/** Runs once the document is as the component says, and again when one of `deps` is another; always without. */
export function useEffect(run: () => unknown, deps?: unknown[]): void {
  const effect = remembered<Effect>(() => ({ run, deps: undefined, end: null }));
  if (!deps || !effect.deps || deps.some((one, k) => one !== effect.deps![k])) effect.run = run;
  effect.deps = deps;
}

export function render(child: Child, dom: Element): void {
  const root: Live = { node: null, dom, kids: [], up: null, memory: [], gone: false };
  renew(root, [child], dom.namespaceURI!);
  place(dom, root.kids);
  settle();
}
