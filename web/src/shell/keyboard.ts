// Keys on a chart: the cursor, the zoom, and words of it for a screen reader.

import type { View } from './view';

/** Speaks of the chart that has the focus; set by charts. */
export interface Speaking extends HTMLElement {
  spoken?: () => string;
}

export function listenToKeys(page: HTMLElement, view: View): void {
  page.addEventListener('keydown', event => {
    const figure =
      event.target instanceof HTMLElement && event.target.matches('figure.chart[tabindex]')
        ? (event.target as Speaking)
        : null;
    if (!figure || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 10 : 1;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => view.moveCursor(-step),
      ArrowRight: () => view.moveCursor(step),
      Home: () => view.moveCursor(Number.NEGATIVE_INFINITY),
      End: () => view.moveCursor(Number.POSITIVE_INFINITY),
      Enter: () => view.markOrZoom(),
      '+': () => view.zoom(0.5),
      '=': () => view.zoom(0.5),
      '-': () => view.zoom(2),
      '0': () => view.setWindow(null),
      Escape: () => view.setWindow(null),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
    say(figure.spoken?.() ?? '');
  });
}

/** Says a sentence to a screen reader, when it is done with the one before. */
export function say(sentence: string): void {
  const region = document.getElementById('spoken');
  if (region) region.textContent = sentence;
}
