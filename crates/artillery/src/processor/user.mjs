// A virtual user as functions see it, and what the engine knows of its variables: only what changed travels. What all users
// share is told once, when the module is loaded.

/** A shared object whose text is longer is looked at by identity only: its text at each call would be dear. */
const WATCHED_MAX = 16_384;
/** The variables every user begins with, and what the engine knows of them. */
let shared = {};
const sharedTold = new Map();

/** JSON of a value; undefined for what has none (functions, cycles). */
function json(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** What the engine knows of a value: which it was, and of an object its text, for it may be changed in place. */
function told(value, text = typeof value === 'object' && value !== null ? json(value) : undefined) {
  return { value, text };
}

/** The text of a value the engine does not know as it is; undefined too for what has none. */
function news(known, value) {
  if (known && known.text === undefined && Object.is(known.value, value)) return undefined;
  const text = json(value);
  return text === known?.text ? undefined : text;
}

/** Takes in what all users share. As in Artillery each has the same objects, not copies of them. */
function share(vars) {
  for (const [name, value] of Object.entries(vars)) {
    const known = told(value);
    sharedTold.set(name, known.text?.length > WATCHED_MAX ? { value } : known);
  }
  shared = { $env: process.env, $processEnvironment: process.env, ...vars };
}

/** One virtual user's context, and what the engine knows of its variables beside the shared ones. */
class User {
  /** By name; null: the engine knows that there is none, though others share one of that name. */
  #told = new Map();

  constructor(scenario) {
    this.context = withoutClients({ vars: { ...shared }, scenario, funcs: functionsOf(this) });
  }

  #knownOf(name) {
    return this.#told.has(name) ? this.#told.get(name) : sharedTold.get(name);
  }

  #forget(name) {
    if (sharedTold.has(name)) this.#told.set(name, null);
    else this.#told.delete(name);
  }

  /** Its variables; a function may have left anything in their place. */
  #vars() {
    const { vars } = this.context;
    if (typeof vars !== 'object' || vars === null) this.context.vars = {};
    return this.context.vars;
  }

  /** Takes over what changed on the engine's side. */
  learn({ set = {}, unset = [] }) {
    const vars = this.#vars();
    for (const [name, value] of Object.entries(set)) {
      vars[name] = value;
      this.#told.set(name, told(value));
    }
    for (const name of unset) {
      delete vars[name];
      this.#forget(name);
    }
    this.context._uid ??= vars.$uuid;
  }

  /** What changed on this side since, as text. */
  changes() {
    const vars = this.#vars();
    const set = [];
    for (const [name, value] of Object.entries(vars)) {
      // The environment is the same on both sides, and nobody's to tell.
      if (value === process.env) continue;
      const text = news(this.#knownOf(name), value);
      if (text === undefined) continue;
      this.#told.set(name, told(value, typeof value === 'object' && value !== null ? text : undefined));
      set.push(`${JSON.stringify(name)}:${text}`);
    }
    const isGone = (name) => vars[name] === undefined && this.#knownOf(name);
    const unset = [...new Set([...sharedTold.keys(), ...this.#told.keys()])].filter(isGone);
    for (const name of unset) this.#forget(name);
    return `"set":{${set.join(',')}},"unset":${JSON.stringify(unset)}`;
  }
}

/** `context.funcs`: what templates may call, for functions. */
function functionsOf(user) {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return {
    $randomNumber: randomNumber,
    $randomString: (length = 10) => Array.from({ length }, () => letters[randomNumber(0, letters.length - 1)]).join(''),
    $template: templateOf(() => user.context.vars),
  };
}

/** Fills templates with variables. */
function templateOf(vars) {
  const lookup = (path) => path.split(/[.[\]'"]+/).filter(Boolean).reduce((value, key) => value?.[key], vars());
  const shown = (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''));
  const render = (input) => {
    if (Array.isArray(input)) return input.map(render);
    if (typeof input === 'object' && input !== null) return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, render(value)]));
    if (typeof input !== 'string') return input;
    const whole = /^\s*\{\{\s*([^{}]+?)\s*\}\}\s*$/.exec(input);
    if (whole) return lookup(whole[1]);
    return input.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (_, path) => shown(lookup(path)));
  };
  return render;
}

/** As Artillery's: the limits in either order, one alone from or to 0, and where one is a fraction any number between. */
function randomNumber(a, b) {
  const finite = (limit) => Math.min(Math.max(Number(limit) || 0, -Number.MAX_VALUE), Number.MAX_VALUE);
  const limits = b !== undefined ? [a, b] : [0, a ?? 1];
  const [least, most] = limits.map(finite).sort((one, other) => one - other);
  if (Number.isInteger(least) && Number.isInteger(most)) return least + Math.floor(Math.random() * (most - least + 1));
  return least + Math.random() * (most - least);
}
