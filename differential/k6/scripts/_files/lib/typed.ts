export function typed<T>(value: T): string { return `typed ${value}`; }
