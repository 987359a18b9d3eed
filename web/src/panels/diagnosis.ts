// What broke first, as `sonagi explain` says it: causes with what they stand on and what to try, what users noticed, and
// which causes it was not.

import type { Diagnosis, Finding, Remedy, RuledOut } from '../data/contract';
import { fill, h } from '../shell/dom';
import { language, text } from '../text';
import { clock, count } from '../text/format';
import { type Context, type Panel, section, sentence, show } from './panel';

export function diagnosisPanel(context: Context): Panel {
  const t = text().diagnosis;
  const body = h('div', {});
  const element = section('diagnosis', t.title, body);
  const update = () => {
    const { diagnosis } = context.run;
    // A service that kept up while nobody looked at it is not worth a section.
    const doubts = diagnosis?.doubts ?? [];
    const noticed = diagnosis !== null && diagnosis.story.symptoms.length > 0;
    show(element, diagnosis !== null && (diagnosis.is_watched || noticed || doubts.length > 0));
    const doubted = doubts.map(doubt => h('p', { class: 'doubtful' }, '! ', said(doubt.text, doubt.ko)));
    if (diagnosis) fill(body, ...doubted, ...told(diagnosis));
  };
  return { id: 'diagnosis', title: t.title, element, update };
}

function told(diagnosis: Diagnosis): (HTMLElement | null)[] {
  const t = text().diagnosis;
  const { symptoms } = diagnosis.story;
  if (symptoms.length === 0) return [h('p', { class: 'fine' }, `✓ ${t.keptUp}`)];
  const ruledOut = diagnosis.ruled_out.filter(rule => !rule.is_unmeasured);
  const unmeasured = diagnosis.ruled_out.filter(rule => rule.is_unmeasured);
  return [
    ...diagnosis.findings.map((finding, i) => cause(finding, i === 0)),
    ...(diagnosis.findings.length === 0 ? unexplained(diagnosis) : []),
    h('h3', {}, t.noticed),
    h(
      'ul',
      { class: 'noticed' },
      symptoms.map(symptom => h('li', {}, h('b', {}, clock(symptom.onset_s)), ' ', said(symptom.text, symptom.ko))),
    ),
    others(t.ruledOut(count(ruledOut.length)), ruledOut),
    others(t.unmeasured(count(unmeasured.length)), unmeasured),
  ];
}

function unexplained(diagnosis: Diagnosis): (HTMLElement | null)[] {
  const t = text().diagnosis;
  const changes = diagnosis.changed.map(change => h('li', {}, said(change.text, change.ko)));
  return [
    h('p', { class: 'doubtful' }, `! ${t.unexplained}`),
    ...(diagnosis.changed.length > 0 ? [h('h3', {}, t.changed), h('ul', {}, changes)] : []),
    diagnosis.is_watched ? null : h('p', { class: 'missing' }, t.unwatched),
  ];
}

/** A cause; the first one is open. */
function cause(finding: Finding, open: boolean): HTMLElement {
  const t = text().diagnosis;
  const grade = { certain: 'bad', likely: 'bad', possible: 'doubtful' }[finding.confidence] ?? 'doubtful';
  return h(
    'details',
    { class: 'cause', open, 'data-rule': finding.id },
    h(
      'summary',
      {},
      h('span', { class: grade }, t.confidence[finding.confidence] ?? finding.confidence),
      ' ',
      h('b', {}, said(finding.title, finding.ko)),
      ' ',
      h('span', { class: 'meaning' }, t.since(clock(finding.onset_s))),
    ),
    h('h3', {}, t.evidence),
    h(
      'ul',
      {},
      finding.evidence.map(({ series, text: words, ko }) =>
        h('li', {}, said(words, ko), ' ', h('code', { class: 'meaning' }, series)),
      ),
    ),
    h('h3', {}, t.remedies),
    h('ol', {}, finding.remedies.map(remedy)),
  );
}

function remedy({ text: words, ko, criteria }: Remedy): HTMLElement {
  const t = text().diagnosis;
  const grades = Object.entries(criteria).map(([name, grade]) => `${t.criteria[name] ?? name} ${grade}`);
  return h('li', {}, said(words, ko), h('div', { class: 'note' }, grades.join(' · ')));
}

function others(title: string, rules: readonly RuledOut[]): HTMLElement | null {
  if (rules.length === 0) return null;
  const { rules: names } = text().diagnosis;
  return h(
    'details',
    {},
    h('summary', {}, title),
    h(
      'ul',
      {},
      rules.map(rule =>
        h('li', {}, h('b', {}, names[rule.id] ?? rule.id.replaceAll('_', ' ')), ': ', said(rule.why, rule.ko)),
      ),
    ),
  );
}

/** What a diagnosis says, in the page's language: the run brings it, or the page knows it from elsewhere. */
function said(english: string, korean: string | undefined): HTMLElement {
  return language() === 'en' || korean === undefined ? sentence(english) : h('span', {}, korean);
}
