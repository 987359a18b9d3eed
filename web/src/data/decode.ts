// Lines out of the offline file: base64 of gzip of one JSON object a line.

import type { Line } from './contract';

/** What was read, and how far: a damaged file still shows what came before the damage. */
export interface Decoded {
  lines: Line[];
  problem: string | null;
}

export async function decode(base64: string): Promise<Decoded> {
  const lines: Line[] = [];
  let rest = '';
  const take = (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part.trim() !== '') lines.push(JSON.parse(part) as Line);
  };
  try {
    const packed = Uint8Array.from(atob(base64.replace(/\s+/g, '')), char => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    const text = new TextDecoder();
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      take(text.decode(value, { stream: true }));
    }
    take(`${text.decode()}\n`);
    return { lines, problem: null };
  } catch (error) {
    return { lines, problem: error instanceof Error ? error.message : String(error) };
  }
}
