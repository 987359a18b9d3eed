// The first thing one reads of several runs: what they came to, and why, in sentences of the binary.

import { sentence } from '../panels/panel';
import { type Outcome, SIGNS } from '../panels/verdict';
import { h } from '../shell/dom';
import { text } from '../text';

interface Strip {
  /** Which verdict of a run it looks like. */
  look: Outcome;
  /** What tests and scripts ask for. */
  outcome: string;
  word: string;
  headline: string;
  /** Why, or what else. */
  beside: string[];
  note: (string | Node)[];
}

export function verdictStrip({ look, outcome, word, headline, beside, note }: Strip): HTMLElement {
  return h(
    'section',
    { id: 'verdict', class: `verdict ${look}`, 'data-outcome': outcome, 'aria-label': text().verdict.title },
    h(
      'div',
      { class: 'headline' },
      h('p', { class: 'word' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[look]), word),
      h(
        'div',
        { class: 'why' },
        h('p', { class: 'meaning' }, sentence(headline)),
        beside.length > 0
          ? h(
              'ul',
              {},
              beside.map(why => h('li', {}, sentence(why))),
            )
          : null,
        h('p', { class: 'note' }, note),
      ),
    ),
  );
}
