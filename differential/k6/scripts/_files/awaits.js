export const now = 1;
await new Promise(() => {});
export const later = 2;
