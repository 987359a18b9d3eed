// Elements from calls. Text is always set as text: nothing of a run is ever read as HTML.

type Child = Node | string | null | undefined | false | Child[];

interface Attributes {
  [name: string]: string | number | boolean | ((event: never) => void) | undefined;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

export function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Replaces what is in an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

let numbers = 0;

/** An id that no other element has. */
export function freshId(prefix: string): string {
  numbers += 1;
  return `${prefix}-${numbers}`;
}
