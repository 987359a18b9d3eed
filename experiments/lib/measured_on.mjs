// What a table was measured on.
import { machine } from '../../bench/lib/machine.mjs';

/** This machine in a line. */
export function machineLine() {
  const { cpu, cores, kernel, node } = machine();
  return `${cpu}, ${cores} cores, Linux ${kernel}, Node ${node}`;
}
