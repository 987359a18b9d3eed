// The percentile spectrum of the window: response from the planned start beside service from the actual one.

import { SpectrumChart, type SpectrumLine } from '../charts/spectrum_chart';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { nameOf, partOf } from './latency';
import { type Context, missing, type Panel, section, show } from './panel';

/** Metrics of the two instants; the reader's choice of a tag holds for both. */
const PAIR = ['response_time', 'service_time'];

export function spectrumPanel(context: Context): Panel {
  const t = text().spectrum;
  const chart = new SpectrumChart(t.title, 260);
  const what = h('p', { class: 'note' });
  const gap = h('p', { class: 'note' }, t.gap);
  const empty = h('div', {});
  const update = () => {
    const lines = linesOf(context);
    const part = partOf(context);
    show(chart.element, lines.length > 0);
    show(
      gap,
      lines.some(line => line.style === 1),
    );
    fill(empty, lines.length > 0 ? null : missing(t.empty));
    what.textContent = part ? `${nameOf(part.metric)}${part.tag ? ` · ${part.tag[1]}` : ''}` : '';
    if (lines.length > 0) chart.update(lines);
  };
  return {
    id: 'spectrum',
    title: t.title,
    element: section('spectrum', t.title, what, empty, chart.element, gap),
    update,
  };
}

function linesOf(context: Context): SpectrumLine[] {
  const t = text().spectrum;
  const part = partOf(context);
  if (!part) return [];
  const { first, end } = context.view.columns();
  const tags = part.tag ? { [part.tag[0]]: part.tag[1] } : {};
  // Without a tag the two instants belong to every metric's picture; a tag may be one that they do not have.
  const paired = PAIR.includes(part.metric);
  const pair: [string, string, number][] = [
    ['response_time', t.response, 0],
    ['service_time', t.service, 1],
  ];
  const chosen: [string, string, number] = [part.metric, nameOf(part.metric), 2];
  const rows = paired ? pair : part.tag ? [chosen] : [chosen, ...pair];
  return rows
    .map(([metric, label, style]) => ({ label, style, buckets: context.run.sum(metric, tags).merged(first, end) }))
    .filter(line => line.buckets.n > 0);
}
