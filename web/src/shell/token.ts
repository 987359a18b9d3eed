// What lets this page act: a token that only the address in the terminal has. It is kept for this tab, from one page of
// the server to the next, and taken out of the address, so that nobody passes it on with a link or a picture.

const KEY = 'sonagi.token';

let kept: string | null = null;

/** Takes the token from the address, or from the page before this one. */
export function takeToken(): void {
  const address = new URL(location.href);
  kept = address.searchParams.get('token');
  try {
    if (kept) sessionStorage.setItem(KEY, kept);
    else kept = sessionStorage.getItem(KEY);
  } catch {
    // It lasts as long as the page.
  }
  if (!address.searchParams.has('token')) return;
  address.searchParams.delete('token');
  history.replaceState(history.state, '', address);
}

/** The token; null: this page only looks. */
export function token(): string | null {
  return kept;
}
