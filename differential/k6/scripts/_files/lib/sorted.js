// k6 gives objects of its own making in another order each time.
export const json = (value) => JSON.stringify(value, (key, of) => (of && typeof of === 'object' && !Array.isArray(of) ? Object.fromEntries(Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1))) : of));
