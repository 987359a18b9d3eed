export const text: string = open('./t.txt').trim();
export function need(name: string): Record<string, unknown> { return require(name); }
