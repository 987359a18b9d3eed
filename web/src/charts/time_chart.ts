// A chart over the run's time: uPlot inside a figure that a keyboard and a screen reader can use. Every chart has the
// same left edge and width, so that one moment stands in one vertical line down the page.

import uPlot from 'uplot';
import type { Columns } from '../data/columns';
import { h } from '../shell/dom';
import type { Speaking } from '../shell/keyboard';
import { colour, whenColoursChange } from '../shell/theme';
import type { View } from '../shell/view';
import { text } from '../text';
import { clock } from '../text/format';
import { chartTable } from './chart_table';
import { logSplits } from './log_axis';
import { type Mark, paintMarks } from './marks';
import { swatch } from './swatch';

/** Width of the left axis, in CSS pixels. */
export const AXIS = 68;

export interface Line {
  label: string;
  /** Which colour and dash: 0 to 7; beyond, they repeat. */
  style: number;
  values: (number | null)[];
  /** What the key says while no column is under the cursor. */
  total?: string;
  width?: number;
}

export interface Drawing {
  columns: Columns;
  lines: Line[];
  /** How values of lines read. */
  format: (value: number | null | undefined) => string;
  /** The range of the left axis; by default from 0 to the highest value. */
  range?: [number, number];
  logarithmic?: boolean;
  marks?: Mark[];
  /** Paints under the lines. */
  background?: (u: uPlot) => void;
  /** Further columns of the table. */
  extra?: { label: string; values: (number | null)[]; format: (value: number | null | undefined) => string }[];
}

const DASHES: number[][] = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [1, 3], [4, 4], []];

export class TimeChart {
  readonly element: HTMLElement;
  private readonly box: HTMLElement;
  private readonly keys: HTMLElement;
  private readonly table: HTMLElement & { refresh(): void };
  private plot: uPlot | null = null;
  private signature = '';
  private drawing: Drawing | null = null;
  private readonly readouts: HTMLElement[] = [];

  constructor(
    private readonly view: View,
    readonly title: string,
    private readonly height: number,
  ) {
    this.box = h('div', { class: 'plot' });
    this.keys = h('div', { class: 'keys' });
    this.table = chartTable(this.title, () => this.drawing);
    this.element = h(
      'figure',
      { class: 'chart', role: 'figure', tabindex: 0, 'aria-label': text().chart.figure(title) },
      h('figcaption', {}, h('h3', {}, title), this.keys),
      this.box,
      this.table,
    );
    this.box.style.height = `${height}px`;
    (this.element as Speaking).spoken = () => this.spoken();
    whenColoursChange(() => {
      this.resize();
      this.plot?.redraw();
    });
    view.whenCursorMoves(() => this.showCursor());
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  update(drawing: Drawing): void {
    this.drawing = drawing;
    const signature = JSON.stringify([
      drawing.lines.map(line => [line.label, line.style, line.width]),
      drawing.logarithmic ?? false,
    ]);
    const data: uPlot.AlignedData = [drawing.columns.middles, ...drawing.lines.map(line => line.values)];
    if (this.plot && signature === this.signature) {
      this.plot.setData(data);
    } else {
      this.signature = signature;
      this.plot?.destroy();
      this.drawKeys(drawing);
      this.plot = new uPlot(this.options(drawing), data, this.box);
    }
    this.table.refresh();
    this.showCursor();
  }

  /** What a screen reader says of the cursor's column. */
  spoken(): string {
    const { drawing } = this;
    const at = this.view.cursor;
    if (!drawing || at === null) return '';
    const lines = drawing.lines.map(line => `${line.label} ${drawing.format(line.values[at])}`);
    return `${clock(drawing.columns.starts[at])}: ${lines.join(', ')}`;
  }

  private drawKeys(drawing: Drawing): void {
    this.readouts.length = 0;
    this.keys.replaceChildren(
      ...drawing.lines.map(line => {
        const readout = h('b', {});
        this.readouts.push(readout);
        return h('span', { class: 'key' }, swatch(line.style, DASHES[line.style % DASHES.length]), line.label, readout);
      }),
    );
  }

  private options(drawing: Drawing): uPlot.Options {
    return {
      width: Math.max(120, this.box.clientWidth),
      height: this.height,
      padding: [6, 22, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { size: 5 },
        drag: { x: true, y: false, setScale: false },
        dataIdx: (_u, _series, closest) => closest,
      },
      scales: {
        x: { time: false, range: () => this.timeRange() },
        y: {
          distr: drawing.logarithmic ? 3 : 1,
          log: 10,
          range: (_u, _min, max) => this.drawing?.range ?? [0, max > 0 ? max * 1.08 : 1],
        },
      },
      axes: [this.timeAxis(), this.valueAxis(drawing.logarithmic ?? false)],
      series: [{}, ...drawing.lines.map(line => this.lineOptions(line))],
      hooks: {
        drawAxes: [u => this.drawing?.background?.(u)],
        draw: [u => paintMarks(u, this.drawing?.marks ?? [], this.view.mark)],
        setCursor: [u => this.hovered(u)],
        setSelect: [u => this.selected(u)],
      },
    };
  }

  private timeAxis(): uPlot.Axis {
    return {
      stroke: () => colour('quiet'),
      grid: { stroke: () => colour('grid'), width: 1 },
      ticks: { stroke: () => colour('grid'), width: 1, size: 4 },
      font: FONT,
      size: 24,
      gap: 3,
      space: 64,
      incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400],
      values: (_u, splits) => splits.map(split => clock(split)),
    };
  }

  private valueAxis(logarithmic: boolean): uPlot.Axis {
    return {
      stroke: () => colour('quiet'),
      grid: { stroke: () => colour('grid'), width: 1 },
      ticks: { show: false },
      font: FONT,
      size: AXIS,
      gap: 6,
      space: logarithmic ? 20 : 28,
      values: (_u, splits) => splits.map(split => (split === null ? '' : (this.drawing?.format(split) ?? ''))),
      splits: logarithmic ? (_u, _axis, min, max) => logSplits(min, max) : undefined,
      filter: logarithmic ? (_u, splits) => powers(splits) : undefined,
    };
  }

  private lineOptions(line: Line): uPlot.Series {
    return {
      label: line.label,
      stroke: () => colour(`c${line.style % 8}`),
      width: line.width ?? 1.5,
      dash: DASHES[line.style % DASHES.length],
      points: { show: (u, _i, from, to) => to - from < 2 || u.data[0].length < 12, size: 5 },
    };
  }

  private timeRange(): uPlot.Range.MinMax {
    const columns = this.drawing?.columns;
    return columns && columns.to > columns.from ? [columns.from, columns.to] : [0, 1];
  }

  private hovered(u: uPlot): void {
    // uPlot also calls this after new data, when no pointer is there: then the cursor stays where the reader put it.
    if (u.cursor.event === undefined || u.cursor.event === null) return;
    this.view.setCursor(u.cursor.left !== undefined && u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null);
  }

  private selected(u: uPlot): void {
    const { left, width } = u.select;
    if (width < 3) return;
    const window: [number, number] = [u.posToVal(left, 'x'), u.posToVal(left + width, 'x')];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.view.setWindow(window);
  }

  private showCursor(): void {
    const { plot, drawing } = this;
    if (!plot || !drawing) return;
    const at = this.view.cursor;
    const middle = at === null ? undefined : drawing.columns.middles[at];
    const left = middle === undefined ? -10 : plot.valToPos(middle, 'x');
    plot.setCursor({ left, top: middle === undefined ? -10 : 1 }, false);
    if (this.view.mark !== null) plot.redraw(false, false);
    drawing.lines.forEach((line, i) => {
      const shown = middle === undefined ? (line.total ?? '') : drawing.format(line.values[at!]);
      if (this.readouts[i] && this.readouts[i].textContent !== shown) this.readouts[i].textContent = shown;
    });
  }

  private resize(): void {
    const width = this.box.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.height });
  }
}

const FONT = '11px system-ui, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", sans-serif';

/** The labels of a logarithmic axis: powers of ten; and halves and fifths of them where there are few. */
function powers(splits: number[]): (number | null)[] {
  const isPower = (split: number) => Math.abs(Math.log10(split) - Math.round(Math.log10(split))) < 1e-6;
  if (splits.filter(isPower).length > 2) return splits.map(split => (isPower(split) ? split : null));
  const lead = (split: number) => Math.round(split / 10 ** Math.floor(Math.log10(split) + 1e-9));
  return splits.map(split => ([1, 2, 5].includes(lead(split)) ? split : null));
}
