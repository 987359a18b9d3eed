// What a script checks and how it groups its work: checks, expectations, groups, scenarios, tags.

import type { Buckets } from '../data/buckets';
import { isProbed } from '../data/sources';
import { h } from '../shell/dom';
import { text } from '../text';
import { count, milliseconds, share } from '../text/format';
import { type Context, missing, type Panel, section, show } from './panel';
import { Table } from './table';

interface Check {
  name: string;
  group: string;
  passed: number;
  failed: number;
  example?: string;
}

/** Values of a tag that are listed. */
const VALUES = 12;

export function checksPanel(context: Context): Panel {
  const t = text().checks;
  const parts = [
    part(t.checks, checkTable(t.checks, false), () => checks(context)),
    part(t.expectations, checkTable(t.expectations, true), () => expectations(context)),
    part(t.groups, groupTable(), () => groups(context)),
    part(t.scenarios, scenarioTable(), () => scenarios(context)),
    part(t.tags, tagTable(), () => tags(context)),
  ];
  const none = missing(t.empty);
  const update = () => show(none, parts.filter(one => one.update()).length === 0);
  const element = section('checks', t.title, none, ...parts.map(one => one.element));
  return { id: 'checks', title: t.title, element, update };
}

/** A table with a title, shown when it has rows; `update` says whether it has. */
function part<Row>(title: string, table: Table<Row>, rows: () => Row[]): { element: HTMLElement; update(): boolean } {
  const element = h('div', { class: 'narrow' }, h('h3', {}, title), table.element);
  const update = () => {
    const now = rows();
    show(element, now.length > 0);
    table.update(now);
    return now.length > 0;
  };
  return { element, update };
}

function checkTable(title: string, extra: boolean): Table<Check> {
  const t = text().checks;
  return new Table<Check>(
    [
      {
        key: 'check',
        label: t.check,
        text: true,
        by: row => row.name,
        cell: row =>
          h('span', {}, h('span', { class: row.failed > 0 ? 'bad' : 'good' }, row.failed > 0 ? '✗ ' : '✓ '), row.name),
      },
      {
        key: 'group',
        label: extra ? t.example : t.group,
        text: true,
        cell: row => (extra ? (row.example ?? '') : row.group),
      },
      { key: 'passed', label: t.passed, cell: row => count(row.passed), by: row => row.passed },
      { key: 'failed', label: t.failed, cell: row => count(row.failed), by: row => row.failed },
      {
        key: 'share',
        label: t.share,
        cell: row => share(row.passed / Math.max(1, row.passed + row.failed)),
        by: row => row.passed / (row.passed + row.failed),
      },
    ],
    title,
    row => (row.failed > 0 ? 'some-wrong' : ''),
  );
}

/** k6 writes groups as `::outer::inner`. */
function groupName(group: string): string {
  return group.split('::').filter(Boolean).join(' › ') || text().checks.top;
}

function checks({ run, view }: Context): Check[] {
  const { first, end } = view.columns();
  const rows = run.series('checks').map(series => {
    const [passes, total] = series.rated(first, end);
    return {
      name: series.tags.check ?? 'checks',
      group: groupName(series.tags.group ?? ''),
      passed: passes,
      failed: total - passes,
    };
  });
  const merged = new Map<string, Check>();
  for (const row of rows) {
    const known = merged.get(`${row.group}\n${row.name}`);
    if (known) {
      known.passed += row.passed;
      known.failed += row.failed;
    } else merged.set(`${row.group}\n${row.name}`, row);
  }
  return [...merged.values()];
}

function expectations({ run }: Context): Check[] {
  const kinds = Object.entries(run.summary?.expectations?.kinds ?? {});
  return kinds.map(([name, kind]) => ({
    name,
    group: '',
    passed: kind.ok,
    failed: kind.failed,
    example: kind.example,
  }));
}

function groups({ run, view }: Context): [string, Buckets][] {
  const { first, end } = view.columns();
  return run
    .tagValues('group_duration', 'group')
    .map(group => [group, run.sum('group_duration', { group }).merged(first, end)] as [string, Buckets]);
}

function groupTable(): Table<[string, Buckets]> {
  const t = text().checks;
  return new Table<[string, Buckets]>(
    [
      { key: 'group', label: t.group, text: true, cell: ([group]) => groupName(group), by: ([group]) => group },
      { key: 'count', label: t.values, cell: ([, all]) => count(all.n), by: ([, all]) => all.n },
      ...([0.5, 0.95, 0.99] as const).map(q => ({
        key: `p${q * 100}`,
        label: `p${q * 100}`,
        cell: ([, all]: [string, Buckets]) => milliseconds(all.quantile(q)),
        by: ([, all]: [string, Buckets]) => all.quantile(q),
      })),
      {
        key: 'max',
        label: text().operations.columns.max,
        cell: ([, all]) => milliseconds(all.n > 0 ? all.max : null),
        by: ([, all]) => (all.n > 0 ? all.max : null),
      },
    ],
    t.groups,
  );
}

function scenarios({ run, view }: Context): [string, number][] {
  const { first, end } = view.columns();
  return run
    .tagValues('users.created', 'scenario')
    .map(name => [name, run.sum('users.created', { scenario: name }).added(first, end)] as [string, number]);
}

function scenarioTable(): Table<[string, number]> {
  const t = text().checks;
  return new Table<[string, number]>(
    [
      { key: 'scenario', label: t.scenario, text: true, cell: ([name]) => name, by: ([name]) => name },
      { key: 'users', label: t.users, cell: ([, n]) => count(n), by: ([, n]) => n },
    ],
    t.scenarios,
  );
}

/** Tags that mean something to the script's author: not those that other tables are made of. */
const OWN = new Set(['operation', 'check', 'group', 'thread', 'called', 'code', 'scenario']);

type Tag = [key: string, known: { values: Set<string>; metrics: Set<string> }];

function tags({ run }: Context): Tag[] {
  const found = new Map<string, Tag[1]>();
  for (const metric of run.metrics.filter(metric => !isProbed(metric))) {
    for (const { tags } of run.series(metric)) {
      for (const [key, value] of Object.entries(tags)) {
        if (OWN.has(key)) continue;
        const known = found.get(key) ?? { values: new Set(), metrics: new Set() };
        known.values.add(value);
        known.metrics.add(metric);
        found.set(key, known);
      }
    }
  }
  return [...found];
}

function tagTable(): Table<Tag> {
  const t = text().checks;
  const list = (values: Set<string>) => {
    const shown = [...values].slice(0, VALUES).join(', ');
    return values.size > VALUES ? `${shown}, … (${count(values.size)})` : shown;
  };
  return new Table<Tag>(
    [
      { key: 'tag', label: t.tag, text: true, cell: ([key]) => key, by: ([key]) => key },
      { key: 'values', label: t.values, text: true, cell: ([, known]) => list(known.values) },
      { key: 'metrics', label: t.metric, text: true, cell: ([, known]) => list(known.metrics) },
    ],
    t.tags,
  );
}
