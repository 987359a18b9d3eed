// jslib.k6.io/k6-utils: small random things, text between marks, stages.
import { check as plainCheck } from 'k6';
import exec from 'k6/execution';
import { uuid } from 'sonagi:common';

export function randomIntBetween(min, max) {
  return Math.floor(Math.random() * (max - min + 1) + min);
}

export function randomItem(list) {
  return list[Math.floor(Math.random() * list.length)];
}

export function randomString(length, charset = 'abcdefghijklmnopqrstuvwxyz') {
  let text = '';
  while (length-- > 0) text += charset[Math.floor(Math.random() * charset.length)];
  return text;
}

// Always of random bytes nobody can guess: `secure` need not be said.
export function uuidv4() {
  return uuid();
}

// The text between `left` and `right`, or with `repeat` all such texts; null if there is none.
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  for (let at = 0; ; ) {
    const from = content.indexOf(left, at);
    const to = from < 0 ? -1 : content.indexOf(right, from + left.length);
    if (to < 0) break;
    const text = content.slice(from + left.length, to);
    if (!repeat) return text;
    found.push(text);
    at = to + right.length;
  }
  return found.length > 0 ? found : null;
}

// Stages along a bell curve: a sixth of the time before it and after it, four sixths along it.
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const bell = (x) => Math.exp(-(x * x) / 2);
  const sixth = Math.ceil(durationSeconds / 6);
  const step = Math.ceil((4 * durationSeconds) / (6 * numberOfStages));
  const heights = Array.from({ length: numberOfStages + 1 }, (_, at) => bell(-2 + (4 * at) / numberOfStages));
  const peak = Math.max(...heights);
  const stages = heights.map((height, at) => ({
    duration: `${at === 0 ? sixth : step}s`,
    target: Math.round((height * maxVus) / peak),
  }));
  return [...stages, { duration: `${sixth}s`, target: 0 }];
}

const UNITS = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1 };

// '1h30m' in milliseconds.
export function parseDuration(text) {
  if (typeof text !== 'string' || text === '') throw new Error(`${text} is no text that says a duration`);
  let [sum, number, unit] = [0, '', ''];
  const add = () => {
    const size = UNITS[unit];
    const value = Number(number);
    if (number === '' || Number.isNaN(value) || (size === undefined && unit !== '')) throw new Error(`'${text}' is no duration`);
    sum += value * (size ?? 1);
    [number, unit] = ['', ''];
  };
  for (const letter of text) {
    const isNumber = (letter >= '0' && letter <= '9') || letter === '.';
    if (isNumber && unit !== '') add();
    if (isNumber) number += letter;
    else unit += letter;
  }
  add();
  return sum;
}

function stages() {
  const scenario = exec.test.options.scenarios[exec.scenario.name];
  if (scenario === undefined) throw new Error(`there is no scenario named ${exec.scenario.name} among the options`);
  if (!Array.isArray(scenario.stages) || scenario.stages.length === 0) {
    throw new Error('only scenarios with stages (ramping-vus, ramping-arrival-rate) have a current stage');
  }
  return scenario.stages;
}

// Which of its scenario's stages an iteration is in; behind the last one, the last one.
export function getCurrentStageIndex() {
  const all = stages();
  let left = Date.now() - exec.scenario.startTime;
  const at = all.findIndex(({ duration }) => {
    left -= typeof duration === 'number' ? duration : parseDuration(duration);
    return left < 0;
  });
  return at < 0 ? all.length - 1 : at;
}

export function tagWithCurrentStageIndex() {
  exec.vu.tags.stage = getCurrentStageIndex();
}

export function tagWithCurrentStageProfile() {
  const all = stages();
  const at = getCurrentStageIndex();
  const { target } = all[at];
  const before = at === 0 ? 0 : all[at - 1].target;
  exec.vu.tags.stage_profile = target > before ? 'ramp-up' : target < before ? 'ramp-down' : 'steady';
}

// `check` of k6, but functions may be async and values promises; then it returns a promise.
export function check(subject, sets, tags) {
  const names = Object.keys(sets);
  const values = names.map((name) => (typeof sets[name] === 'function' ? sets[name](subject) : sets[name]));
  const all = (settled) => plainCheck(subject, Object.fromEntries(names.map((name, at) => [name, () => settled[at]])), tags);
  return values.some((value) => value instanceof Promise) ? Promise.all(values).then(all) : all(values);
}
