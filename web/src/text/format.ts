// Numbers for people: three significant digits with a unit, by Intl in the page's language.

import { language } from '.';

const formats = new Map<string, Intl.NumberFormat>();

function format(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = language() + JSON.stringify(options);
  let known = formats.get(key);
  if (!known) {
    known = new Intl.NumberFormat(language(), options);
    formats.set(key, known);
  }
  return known;
}

/** Something that was not measured is not 0. */
export const NONE = '–';

/** A whole number: every digit. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  return format({ maximumFractionDigits: Number.isInteger(value) ? 0 : 2 }).format(value);
}

/** Three significant digits. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (Math.abs(value) >= 1_000) return format({ maximumFractionDigits: 0 }).format(value);
  return format({ maximumSignificantDigits: 3 }).format(value);
}

export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (Math.abs(value) >= 10_000) return `${short(value / 1_000)} s`;
  return `${short(value)} ms`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  for (const [size, unit] of [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
  ] as const) {
    if (Math.abs(value) >= size) return `${short(value / size)} ${unit}`;
  }
  return `${short(value)} B`;
}

/** A share of 1. What is less than all never reads as 100 %. */
export function share(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  const percent = value * 100;
  if (percent > 99.9 && percent < 100) {
    const digits = Math.min(6, Math.ceil(-Math.log10(100 - percent)) + 1);
    return `${format({ maximumFractionDigits: digits, roundingMode: 'floor' } as Intl.NumberFormatOptions).format(percent)} %`;
  }
  return `${format({ maximumSignificantDigits: 3 }).format(percent)} %`;
}

/** A value of a series, with its unit. */
export function value(number: number | null | undefined, unit: string): string {
  switch (unit) {
    case 'ms':
    case 'milliseconds':
      return milliseconds(number);
    case 'bytes':
      return bytes(number);
    case 'share':
      return share(number);
    case 'number':
    case 'events':
    case '':
      return short(number);
    default:
      return number === null || number === undefined ? NONE : `${short(number)} ${unit}`;
  }
}

/** The same a second. */
export function rate(number: number | null | undefined, unit = 'number'): string {
  return number === null || number === undefined ? NONE : `${value(number, unit)}/s`;
}

/** A moment of the run: m:ss, h:mm:ss from an hour on, tenths where they matter. */
export function clock(seconds: number, tenths = false): string {
  const sign = seconds < 0 ? '−' : '';
  let rest = Math.abs(seconds);
  rest = tenths ? Math.round(rest * 10) / 10 : Math.round(rest);
  const hours = Math.floor(rest / 3_600);
  const minutes = Math.floor((rest % 3_600) / 60);
  const left = rest % 60;
  const two = (n: number) => String(n).padStart(2, '0');
  const last = tenths && left % 1 !== 0 ? left.toFixed(1).padStart(4, '0') : two(Math.floor(left));
  return hours > 0 ? `${sign}${hours}:${two(minutes)}:${last}` : `${sign}${minutes}:${last}`;
}

/** A length of time. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  return value < 60 ? `${short(value)} s` : clock(value);
}

/** A date with its time, in the reader's time zone. */
export function date(rfc3339: string): string {
  const when = new Date(rfc3339);
  if (Number.isNaN(when.getTime())) return rfc3339;
  return new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'medium' }).format(when);
}
