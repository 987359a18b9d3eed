// The panels of a run, in the order in which one asks: what came of it, why, under which load, how slow, what arrived.

import { checksPanel } from './checks';
import { deliveryPanel } from './delivery';
import { diagnosisPanel } from './diagnosis';
import { errorsPanel } from './errors';
import { eventsPanel } from './events';
import { generatorPanel } from './generator';
import { lanesPanel } from './lanes';
import { latencyPanel } from './latency';
import { loadPanel } from './load';
import { operationsPanel } from './operations';
import type { Context, Panel } from './panel';
import { reproducePanel } from './reproduce';
import { spectrumPanel } from './spectrum';
import { thresholdsPanel } from './thresholds';
import { verdictPanel } from './verdict';

/** Panels that have something to say of a watch, which has no load. */
export const ofWatch: ReadonlySet<string> = new Set(['verdict', 'lanes', 'events', 'reproduce']);

export const panels: readonly ((context: Context) => Panel)[] = [
  verdictPanel,
  diagnosisPanel,
  thresholdsPanel,
  errorsPanel,
  loadPanel,
  latencyPanel,
  deliveryPanel,
  generatorPanel,
  lanesPanel,
  spectrumPanel,
  operationsPanel,
  checksPanel,
  eventsPanel,
  reproducePanel,
];
