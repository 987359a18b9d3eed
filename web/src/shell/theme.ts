// Light or dark: as the system says, unless the reader chose. Canvases read their colours when they draw, so whoever
// draws on one is told when the colours change.

import { recall, remember } from './memory';

export type Theme = 'auto' | 'light' | 'dark';

const themes: readonly Theme[] = ['auto', 'light', 'dark'];
const listeners = new Set<() => void>();

export function initialTheme(): Theme {
  const remembered = recall('theme');
  return themes.find(theme => theme === remembered) ?? 'auto';
}

export function setTheme(theme: Theme, lasting: boolean): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  if (lasting) remember('theme', theme);
  tell();
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length];
}

/** Calls back when colours change, as long as the page that is built now is shown. */
export function whenColoursChange(listener: () => void): void {
  listeners.add(listener);
}

let prepareForPaper = () => {};

/**
 * A page is about to be built in place of the one before: whoever drew on that one need not be told any more.
 * `prepare` draws what is not drawn yet, before it is printed.
 */
export function beginPage(prepare: () => void = () => {}): void {
  listeners.clear();
  prepareForPaper = prepare;
}

function tell(): void {
  colours.clear();
  for (const listener of listeners) listener();
}

/** Paper is white whatever the screen is. */
export function watchColours(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', tell);
  addEventListener('beforeprint', () => {
    document.documentElement.dataset.print = '';
    prepareForPaper();
    tell();
  });
  addEventListener('afterprint', () => {
    delete document.documentElement.dataset.print;
    tell();
  });
}

const colours = new Map<string, string>();

/** The value of a CSS variable of the page. */
export function colour(name: string): string {
  let known = colours.get(name);
  if (known === undefined) {
    known = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    colours.set(name, known);
  }
  return known;
}
