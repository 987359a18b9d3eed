// Links from the page of several runs to the pages of each.

import type { Links } from '../data/contract';
import { h } from '../shell/dom';

/** The words, as a link where the run has a page. */
export function linked(links: Links | null, folder: string | null, words: string, className: string): HTMLElement {
  if (!links || !folder) return h('span', { class: className }, words);
  const href = `${links.before}${encodeURIComponent(links.within + folder)}${links.behind}`;
  return h('a', { class: className, href }, words);
}
