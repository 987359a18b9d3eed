// The scripts of bench/scripts/ and what they are told.

export const scriptPath = (path) => new URL(`../scripts/${path}`, import.meta.url).pathname;

/**
 * The environment of a script: TARGET and the case's parameters, e.g. `{ USERS: 50 }`. A parameter may be a function of the
 * run's context, e.g. `({ calibration }) => calibration.rate`.
 */
export function variables(target, parameters, context = {}) {
  const given = Object.entries(parameters).map(([key, value]) => [key, String(typeof value === 'function' ? value({ target, ...context }) : value)]);
  return { TARGET: target.url, ...Object.fromEntries(given) };
}

/** The last line of a tool's output that is a JSON object. */
export function lastJsonLine(stdout) {
  const line = stdout.trimEnd().split('\n').findLast((one) => one.startsWith('{'));
  if (!line) throw new Error('it printed no line of JSON');
  return JSON.parse(line);
}
