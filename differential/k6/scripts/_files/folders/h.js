export const text = open('t.txt').trim();
