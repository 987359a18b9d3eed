// The language of the page: chosen by the browser, changed by a switch, remembered where the browser allows it.

import { recall, remember } from '../shell/memory';
import { en, type Text } from './en';
import { ko } from './ko';

export type { Text };
export type Language = 'en' | 'ko';

const tables: Record<Language, Text> = { en, ko };

let chosen: Language = 'en';

/** The language to begin with. */
export function initialLanguage(): Language {
  const remembered = recall('language');
  if (remembered === 'en' || remembered === 'ko') return remembered;
  return navigator.language.toLowerCase().startsWith('ko') ? 'ko' : 'en';
}

export function setLanguage(language: Language, lasting: boolean): void {
  chosen = language;
  document.documentElement.lang = language;
  if (lasting) remember('language', language);
}

export function language(): Language {
  return chosen;
}

/** The texts of the chosen language. */
export function text(): Text {
  return tables[chosen];
}

/** Names of the languages, each in its own. */
export const languages: readonly [Language, string][] = [
  ['en', en.language],
  ['ko', ko.language],
];
