// The bar on top: whose page it is, and the switches of language and theme.

import { type Language, language, languages, setLanguage, text } from '../text';
import { h } from './dom';
import { initialTheme, nextTheme, setTheme, type Theme } from './theme';

let theme: Theme = 'auto';

export function prepareTheme(): void {
  theme = initialTheme();
  setTheme(theme, false);
}

/** `again` builds the page anew in another language. */
export function topBar(
  title: string,
  library: boolean,
  again: () => void,
  ...more: (HTMLElement | null)[]
): HTMLElement {
  const t = text().page;
  const themeButton = h('button', { type: 'button', class: 'plain', id: 'theme' }, t.theme[theme]);
  themeButton.addEventListener('click', () => {
    theme = nextTheme(theme);
    setTheme(theme, true);
    themeButton.textContent = t.theme[theme];
  });
  const languageMenu = h(
    'select',
    { id: 'language', 'aria-label': '언어 / Language' },
    languages.map(([code, name]) => h('option', { value: code, lang: code, selected: code === language() }, name)),
  );
  languageMenu.addEventListener('change', () => {
    setLanguage(languageMenu.value as Language, true);
    again();
  });
  return h(
    'header',
    { class: 'bar' },
    h('span', { class: 'name' }, 'Sonagi'),
    h('h1', {}, title),
    library ? h('a', { href: '/' }, t.library) : null,
    ...more,
    h('span', { class: 'space' }),
    themeButton,
    languageMenu,
    h('button', { type: 'button', class: 'plain', click: () => print() }, t.print),
  );
}

/** `charts`: whether the page has any, whose keys it tells. */
export function footer(charts: boolean, version?: string): HTMLElement {
  return h(
    'footer',
    {},
    charts ? h('p', {}, text().keys) : null,
    version ? h('p', {}, text().page.madeBy(version)) : null,
  );
}
