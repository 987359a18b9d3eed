// What the tables of experiments ask of a finished matrix (`matrix.json`), and how they show its figures.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { number } from '../../bench/lib/markdown.mjs';

/** The matrix of a run folder. */
export function readMatrix(folder) {
  const file = join(folder, 'matrix.json');
  if (!existsSync(file)) throw new Error(`there is no ${file}\nhint: only the folder of a matrix has one`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

export const short = (value) => (value < 100 ? value.toPrecision(3) : number(value));
export const ms = (value) => `${short(value)} ms`;
export const sum = (values) => values.reduce((sum, value) => sum + value, 0);

/** The runs that count. The one that shows drift is one more of its combination, made to be compared with the others. */
export const counted = ({ runs }) => runs.filter(({ is_anchor }) => !is_anchor);

/** Whether a run's figures say something of the service. */
export const isSound = (summary) => summary?.complete && !summary.interrupted && summary.verdict.result !== 'invalid';

/** The summaries of the runs of some values of the axes, all that were `made` and the `sound` ones. */
export function runsOf(matrix, wanted) {
  const isWanted = ({ combination }) => Object.entries(wanted).every(([axis, value]) => combination[axis] === value);
  const made = counted(matrix).filter(isWanted).map(({ summary }) => summary);
  return { made, sound: made.filter(isSound) };
}

/** What a row's figures stand on: so many sound runs of those that were `made`, of `what` if that is to be said. */
export const measuredOn = ({ version, started, machine }, sound, made, what = '') =>
  `${sound.length} of ${made.length} runs${what}, Sonagi ${version}, ${started.slice(0, 10)}, ${machine}`;

/** The same of runs with so many users each. */
export function measuredBy(matrix, { sound, made }) {
  const users = sound.length > 0 ? ` of ${number(sound[0].users.planned)} users` : '';
  return measuredOn(matrix, sound, made, users);
}
