// Where a logarithmic axis has its lines.

/**
 * Whole multiples of powers of ten. uPlot's own splits of a range that begins right below one never end: it then goes on in
 * steps that it rounds to nothing.
 */
export function logSplits(min: number, max: number): number[] {
  if (!(min > 0 && max < Number.POSITIVE_INFINITY)) return [];
  const splits: number[] = [];
  for (let exponent = Math.floor(Math.log10(min)); exponent <= Math.log10(max); exponent += 1) {
    for (let digit = 1; digit < 10; digit += 1) {
      const value = Number(`${digit}e${exponent}`);
      if (value >= min && value <= max) splits.push(value);
    }
  }
  return splits;
}
