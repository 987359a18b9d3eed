// The measures every row has, and how any measure reads in a table.

/** Columns of every case; `label` may name the case's operation. A case adds its own in front. */
export const standard = (operation) => ({
  cpu_us: { label: `CPU µs per ${operation}`, better: 'lower' },
  cpu_share: { label: 'CPU', unit: 'share', better: 'lower' },
  peak_mb: { label: 'MB', better: 'lower' },
  target_cpu: { label: 'target CPU', unit: 'share' },
});

/** All columns of a case, its own first; one it declares itself replaces the standard one of that name, `false` removes it. */
export function columns({ operation, measures = {} }) {
  const all = { ...measures };
  for (const [name, column] of Object.entries(standard(operation))) all[name] ??= column;
  return Object.fromEntries(Object.entries(all).filter(([, column]) => column));
}

/** The figures of one run: what the contestant measured, and what it and the target cost. */
export function complete({ operations, seconds, falls_short, ...own }, outcome) {
  const loaded_s = seconds ?? outcome.wall_s;
  return {
    operations,
    cpu_s: outcome.cpu_s,
    cpu_us: (outcome.cpu_s * 1e6) / operations,
    cpu_share: outcome.cpu_s / outcome.wall_s,
    peak_mb: outcome.peak_mb,
    target_cpu: outcome.target.cpu_s / loaded_s,
    target_cpu_us: (outcome.target.cpu_s * 1e6) / operations,
    wall_s: outcome.wall_s,
    loaded_s,
    ...own,
  };
}

/** A value as people read it: three digits that matter, thousands apart, shares in per cent. */
export function readable(value, unit) {
  if (value === undefined || value === null || Number.isNaN(value)) return '–';
  if (unit === 'share') return `${digits(value * 100)} %`;
  return digits(value);
}

function digits(value) {
  const size = Math.abs(value);
  if (size >= 999.5) return Math.round(value).toLocaleString('en-US');
  if (size >= 100 || Number.isInteger(value)) return String(Math.round(value));
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.1 || size === 0) return value.toFixed(2);
  return value.toPrecision(2);
}
