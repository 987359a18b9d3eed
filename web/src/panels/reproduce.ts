// How to run it again: command, seed, versions, machine, script.

import type { Run } from '../data/run';
import { isK6, isWatch } from '../data/sources';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { bytes } from '../text/format';
import { type Context, type Panel, section } from './panel';

export function reproducePanel(context: Context): Panel {
  const t = text().reproduce;
  const body = h('div', {});
  const update = () => {
    const { head, summary } = context.run;
    if (!head || body.childElementCount > 0) return;
    const { reproduce } = head;
    const rows: [string, unknown][] = [
      [t.script, reproduce.script],
      [t.seed, reproduce.seed === undefined ? undefined : `${reproduce.seed} (${t.seedHelp})`],
      [t.version, head.sonagi],
      [t.language, languageOf(context.run)],
      [t.folder, summary?.run_folder ?? head.id],
      ...Object.entries(summary?.combination ?? {}).map(
        ([key, value]) => [`${t.combination}: ${key}`, value] as [string, unknown],
      ),
    ];
    fill(
      body,
      command(reproduce.command),
      facts(rows),
      members(t.machine, reproduce.machine),
      members(t.environment, reproduce.environment),
      reproduce.plan
        ? h(
            'details',
            {},
            h('summary', {}, t.plan),
            h('pre', { tabindex: 0 }, JSON.stringify(reproduce.plan, dropNull, 2)),
          )
        : null,
    );
  };
  return { id: 'reproduce', title: t.title, element: section('reproduce', t.title, body), update };
}

function languageOf(run: Run): string | undefined {
  if (isWatch(run)) return undefined;
  return isK6(run) ? 'k6 (JavaScript, TypeScript)' : 'Artillery (YAML)';
}

/** How to do it again, where a page of several runs knows it. */
export function reproduceSection(words: string[]): HTMLElement {
  return section('reproduce', text().reproduce.title, command(words));
}

function command(words: string[] | undefined): HTMLElement {
  const t = text().reproduce;
  if (!words?.length) return h('p', { class: 'note' }, t.noCommand);
  const line = words.map(quoted).join(' ');
  const copy = h('button', { type: 'button', class: 'plain' }, t.copy);
  copy.addEventListener('click', () => {
    navigator.clipboard?.writeText(line).then(
      () => {
        copy.textContent = t.copied;
      },
      () => select(code),
    );
  });
  const code = h('pre', { class: 'command', tabindex: 0, 'aria-label': t.command }, line);
  return h('div', { class: 'with-button' }, code, copy);
}

/** Where a file may not write to the clipboard, the text is at least selected. */
function select(element: HTMLElement): void {
  getSelection()?.selectAllChildren(element);
}

/** A word as a POSIX shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function facts(rows: [string, unknown][]): HTMLElement {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return h(
    'dl',
    { class: 'facts' },
    shown.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, plain(name, value)))),
  );
}

function members(title: string, record: Record<string, unknown> | undefined): HTMLElement | null {
  if (!record || Object.keys(record).length === 0) return null;
  return h(
    'div',
    {},
    h('h3', {}, title),
    facts(Object.entries(record).map(([name, value]) => [name.replaceAll('_', ' '), value])),
  );
}

function plain(name: string, value: unknown): string {
  const kilobytes = typeof value === 'string' ? /^(\d+) kB$/.exec(value) : null;
  if (name === 'memory' && kilobytes) return bytes(Number(kilobytes[1]) * 1_024);
  if (Array.isArray(value)) return value.join(' – ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Options that a script leaves open are no part of it. */
function dropNull(_key: string, value: unknown): unknown {
  return value === null ? undefined : value;
}
