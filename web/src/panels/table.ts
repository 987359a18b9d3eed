// Tables of the page: numbers to the right, and columns to sort by where that helps.

import { fill, h } from '../shell/dom';
import { text } from '../text';

export interface Column<Row> {
  key: string;
  label: string;
  /** What the cell shows. */
  cell: (row: Row) => string | Node;
  /** What it sorts by; a column without cannot be sorted by. */
  by?: (row: Row) => number | string | null;
  /** Text, not a number. */
  text?: boolean;
  /** What the cell is, for tests and scripts: becomes data-col. */
  title?: (row: Row) => string | undefined;
}

export class Table<Row> {
  readonly element: HTMLElement;
  private readonly table = h('table', {});
  private sorted: { key: string; down: boolean } | null = null;
  private rows: Row[] = [];
  private pinned = 0;

  constructor(
    private readonly columns: Column<Row>[],
    private readonly caption: string,
    private readonly className?: (row: Row) => string,
  ) {
    this.element = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, this.table);
  }

  /** Shows rows; the first `pinned` stay on top however it is sorted. */
  update(rows: Row[], pinned = 0): void {
    this.rows = rows;
    this.pinned = pinned;
    this.draw();
  }

  private draw(): void {
    const focused = document.activeElement?.getAttribute('data-sort');
    fill(
      this.table,
      h('caption', { class: 'spoken' }, this.caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          this.columns.map(column => this.head(column)),
        ),
      ),
      h(
        'tbody',
        {},
        this.order().map(row => this.row(row)),
      ),
    );
    if (focused) this.table.querySelector<HTMLElement>(`[data-sort="${focused}"]`)?.focus({ preventScroll: true });
  }

  private head(column: Column<Row>): HTMLElement {
    const className = column.text ? 'text' : undefined;
    if (!column.by) return h('th', { scope: 'col', class: className }, column.label);
    const sorted = this.sorted?.key === column.key ? this.sorted : null;
    const direction = sorted ? (sorted.down ? 'descending' : 'ascending') : undefined;
    const click = () => {
      this.sorted = { key: column.key, down: sorted ? !sorted.down : !column.text };
      this.draw();
    };
    const button = h(
      'button',
      { type: 'button', class: 'sort', 'data-sort': column.key, title: text().operations.sort(column.label), click },
      column.label,
      h('span', { class: 'arrow', 'aria-hidden': 'true' }, sorted ? (sorted.down ? '↓' : '↑') : ''),
    );
    return h('th', { scope: 'col', class: className, 'aria-sort': direction }, button);
  }

  private order(): Row[] {
    const column = this.columns.find(one => one.key === this.sorted?.key);
    if (!column?.by || !this.sorted) return this.rows;
    const { by } = column;
    const sign = this.sorted.down ? -1 : 1;
    const compare = (a: Row, b: Row) => {
      const [x, y] = [by(a), by(b)];
      if (x === y) return 0;
      if (x === null) return 1;
      if (y === null) return -1;
      return x < y ? -sign : sign;
    };
    return [...this.rows.slice(0, this.pinned), ...this.rows.slice(this.pinned).sort(compare)];
  }

  private row(row: Row): HTMLElement {
    return h(
      'tr',
      { class: this.className?.(row) || undefined },
      this.columns.map((column, i) => {
        const attributes = {
          class: column.text ? 'text' : undefined,
          'data-col': column.key,
          title: column.title?.(row),
        };
        const shown = column.cell(row);
        return i === 0 ? h('th', { ...attributes, scope: 'row' }, shown) : h('td', attributes, shown);
      }),
    );
  }
}
