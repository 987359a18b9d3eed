// Choices of the reader that outlive the page, where the browser lets it keep anything (a file may not).

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`sonagi.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`sonagi.${key}`, value);
  } catch {
    // The choice lasts as long as the page.
  }
}
