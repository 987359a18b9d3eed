// What every part of the page is: a section with a title that is brought up to date as a whole.

import type { Mark } from '../charts/marks';
import type { Run } from '../data/run';
import { h } from '../shell/dom';
import type { View } from '../shell/view';
import { said } from '../text/sentences';

export interface Panel {
  id: string;
  title: string;
  element: HTMLElement;
  update(): void;
}

/** What panels share. */
export interface Context {
  run: Run;
  view: View;
  /** Phases and events, numbered, for every chart. */
  marks(): Mark[];
}

/** A section of the page. */
export function section(id: string, title: string, ...body: (Node | string | null)[]): HTMLElement {
  return h(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, title),
    h('div', { class: 'body' }, ...body),
  );
}

/** A sentence of the binary, in the page's language where that is known. */
export function sentence(english: string): HTMLElement {
  const { text, lang } = said(english);
  return h('span', { lang }, text);
}

/** A sentence in place of what is not there. */
export function missing(sentence: string, example?: string): HTMLElement {
  return h('div', { class: 'missing' }, h('p', {}, sentence), example ? h('pre', { tabindex: 0 }, example) : null);
}

/** Shows one of two elements. */
export function show(element: HTMLElement, shown: boolean): void {
  element.hidden = !shown;
}
