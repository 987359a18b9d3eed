// What the binary says in sentences (reasons, findings, hints, what thresholds saw), in the page's language. As with
// gettext, the English sentence is the key: it is all that folders of older versions and lists of runs have. A sentence
// that is not in the catalogue is shown as it is, and marked as English.

import { language } from '.';
import { catalogue } from './sentences_ko';

export interface Said {
  text: string;
  /** The language of the text, where it is not the page's. */
  lang?: 'en';
}

/** Korean by holes' names. */
type Holes = Record<string, string>;

/** A sentence with `{holes}` and `[one|other]` words; how it reads with its holes filled. */
export type Entry = readonly [english: string, korean: string | ((holes: Holes) => string | null)];

interface Known {
  pattern: RegExp;
  korean: Entry[1];
}

let known: Known[] | null = null;

/** A sentence in the page's language. */
export function said(sentence: string): Said {
  if (language() === 'en') return { text: sentence };
  const korean = inKorean(sentence);
  return korean === null ? { text: sentence, lang: 'en' } : { text: korean };
}

/** The Korean of a sentence; null of one that is not in the catalogue. */
export function inKorean(sentence: string): string | null {
  known ??= catalogue.map(([english, korean]) => ({ pattern: patternOf(english), korean }));
  for (const { pattern, korean } of known) {
    const found = pattern.exec(sentence);
    if (!found) continue;
    const holes = found.groups ?? {};
    const text =
      typeof korean === 'function' ? korean(holes) : korean.replace(/\{(\w+)\}/g, (_, hole) => holes[hole] ?? '');
    if (text !== null) return text;
  }
  return null;
}

/** Holes take as little as they can; what is between them is as it stands. */
function patternOf(english: string): RegExp {
  return new RegExp(`^${sourceOf(english)}$`, 's');
}

function sourceOf(english: string): string {
  const parts = english.split(/(\{\w+\}|\[[^\]|]*\|[^\]]*\])/);
  return parts
    .map(part => {
      if (/^\{\w+\}$/.test(part)) return `(?<${part.slice(1, -1)}>.+?)`;
      if (/^\[.*\|/.test(part)) return `(?:${part.slice(1, -1).split('|').map(sourceOf).join('|')})`;
      return literal(part);
    })
    .join('');
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
