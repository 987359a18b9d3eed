// Everything the unit tests and the benchmarks of data need, in one import.

export { Buckets, keyOf, middleOf, OFFSET } from './buckets';
export { columnsOf, levels, perSecond, shares, trends, valuesPerSecond } from './columns';
export { decode } from './decode';
export { Run } from './run';
export { Series, Sum } from './series';
