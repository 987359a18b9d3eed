// What only a run under way has: whether the page still hears of it, and the button that stops it.

import type { Boot } from '../data/contract';
import type { Run } from '../data/run';
import type { Connection } from '../data/stream';
import { text } from '../text';
import { fill, h } from './dom';
import { token } from './token';

export class Live {
  private readonly place = h('span', { class: 'live', role: 'status' });
  private connection: Connection = 'open';
  private asked = false;
  private answer: 'none' | 'stopping' | string = 'none';

  constructor(
    private readonly run: Run,
    private readonly boot: Boot & { mode: 'run' },
  ) {}

  /** The element that says it; the same one every time, so that a new page keeps it. */
  controls(): HTMLElement {
    this.draw();
    return this.place;
  }

  connected(connection: Connection): void {
    this.connection = connection;
    this.draw();
  }

  update(): void {
    this.draw();
  }

  private signature = '';

  private draw(): void {
    const t = text().live;
    const signature = [this.connection, this.run.state, this.asked, this.answer, t.live].join();
    if (signature === this.signature) return;
    this.signature = signature;
    document.documentElement.dataset.connection = this.connection;
    // What failed says why in a notice; of what is no longer heard of, nothing is live.
    if (this.run.state !== 'running' || this.connection === 'failed') return fill(this.place);
    fill(
      this.place,
      this.connection === 'lost' ? h('b', { class: 'bad' }, t.lost) : h('span', { class: 'dot' }, t.live),
      this.boot.stoppable && token() ? this.stopButton() : null,
      this.answer === 'none' ? null : h('span', {}, this.answer === 'stopping' ? t.stopping : t.failed(this.answer)),
    );
  }

  /** The first click asks, the second stops: nothing else on the page acts. */
  private stopButton(): HTMLElement {
    const t = text().live;
    const button = h('button', { type: 'button', id: 'stop', class: 'plain stop' }, this.asked ? t.confirm : t.stop);
    button.disabled = this.answer === 'stopping';
    button.addEventListener('click', () => {
      if (this.asked) return void this.stop();
      this.asked = true;
      this.draw();
      document.getElementById('stop')?.focus();
    });
    return button;
  }

  private async stop(): Promise<void> {
    this.answer = 'stopping';
    this.draw();
    try {
      const answer = await fetch(`/api/runs/${encodeURIComponent(this.boot.id)}/stop`, {
        method: 'POST',
        headers: { 'X-Sonagi-Token': token() ?? '' },
      });
      if (!answer.ok) this.answer = String(answer.status);
    } catch (error) {
      this.answer = error instanceof Error ? error.message : String(error);
    }
    this.asked = false;
    this.draw();
  }
}
