// What runs of chat.yml came to, as rows beside those of the report. Pure.
import { EMITS, FAILED_USERS, answers, ratioRows, ratioTable, sessions } from '../../lib/ratio.mjs';

/** The figures of the report's own table. */
export const RATIO = ratioTable(
  [FAILED_USERS],
  [EMITS, ...['mean', 'p95', 'p99'].map(answers), ...['mean', 'p95'].map(sessions)],
);

/** The rows of a finished matrix (`matrix.json`). That of 002 has another load under the same script's name. */
export function rows(matrix) {
  if (matrix.axes.includes('remedy')) {
    throw new Error('this is a matrix of experiments/002\nhint: node experiments/002/table.mjs');
  }
  return ratioRows(RATIO, matrix);
}
