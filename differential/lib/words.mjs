/** Words as a shell takes them apart, with single quotes only. */
export const words = (text) => [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
