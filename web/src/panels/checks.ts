// What a script checks and how it groups its work: checks, expectations, groups, scenarios, tags.

import type { Buckets } from '../data/buckets';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { count, milliseconds, share } from '../text/format';
import { type Context, missing, type Panel, section } from './panel';
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
  const body = h('div', {});
  const update = () => {
    const parts = [checks(context), expectations(context), groups(context), scenarios(context), tags(context)].filter(
      part => part !== null,
    );
    fill(body, parts.length > 0 ? parts : missing(t.empty));
  };
  return { id: 'checks', title: t.title, element: section('checks', t.title, body), update };
}

function part(title: string, table: HTMLElement): HTMLElement {
  return h('div', { class: 'narrow' }, h('h3', {}, title), table);
}

function checkTable(title: string, rows: Check[], extra: boolean): HTMLElement {
  const t = text().checks;
  const table = new Table<Check>(
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
  table.update(rows);
  return part(title, table.element);
}

/** k6 writes groups as `::outer::inner`. */
function groupName(group: string): string {
  return group.split('::').filter(Boolean).join(' › ') || text().checks.top;
}

function checks({ run, view }: Context): HTMLElement | null {
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
  return merged.size > 0 ? checkTable(text().checks.checks, [...merged.values()], false) : null;
}

function expectations({ run }: Context): HTMLElement | null {
  const kinds = Object.entries(run.summary?.expectations?.kinds ?? {});
  if (kinds.length === 0) return null;
  const rows = kinds.map(([name, kind]) => ({
    name,
    group: '',
    passed: kind.ok,
    failed: kind.failed,
    example: kind.example,
  }));
  return checkTable(text().checks.expectations, rows, true);
}

function groups({ run, view }: Context): HTMLElement | null {
  const t = text().checks;
  const { first, end } = view.columns();
  const rows = run
    .tagValues('group_duration', 'group')
    .map(group => [group, run.sum('group_duration', { group }).merged(first, end)] as [string, Buckets]);
  if (rows.length === 0) return null;
  const table = new Table<[string, Buckets]>(
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
  table.update(rows);
  return part(t.groups, table.element);
}

function scenarios({ run, view }: Context): HTMLElement | null {
  const t = text().checks;
  const { first, end } = view.columns();
  const rows = run
    .tagValues('users.created', 'scenario')
    .map(name => [name, run.sum('users.created', { scenario: name }).added(first, end)] as [string, number]);
  if (rows.length === 0) return null;
  const table = new Table<[string, number]>(
    [
      { key: 'scenario', label: t.scenario, text: true, cell: ([name]) => name, by: ([name]) => name },
      { key: 'users', label: t.users, cell: ([, n]) => count(n), by: ([, n]) => n },
    ],
    t.scenarios,
  );
  table.update(rows);
  return part(t.scenarios, table.element);
}

/** Tags that mean something to the script's author: not those that other tables are made of. */
const OWN = new Set(['operation', 'check', 'group', 'thread', 'called', 'code', 'scenario']);

function tags({ run }: Context): HTMLElement | null {
  const t = text().checks;
  const found = new Map<string, { values: Set<string>; metrics: Set<string> }>();
  for (const metric of run.metrics) {
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
  if (found.size === 0) return null;
  type Row = [string, { values: Set<string>; metrics: Set<string> }];
  const list = (values: Set<string>) => {
    const shown = [...values].slice(0, VALUES).join(', ');
    return values.size > VALUES ? `${shown}, … (${count(values.size)})` : shown;
  };
  const table = new Table<Row>(
    [
      { key: 'tag', label: t.tag, text: true, cell: ([key]) => key, by: ([key]) => key },
      { key: 'values', label: t.values, text: true, cell: ([, known]) => list(known.values) },
      { key: 'metrics', label: t.metric, text: true, cell: ([, known]) => list(known.metrics) },
    ],
    t.tags,
  );
  table.update([...found]);
  return part(t.tags, table.element);
}
