// Installs what the chosen contestants need, side by side, and says what is not available and why.

/**
 * Installs tools and targets of `contestants`. What comes back knows `has(contestant)`, `missing(contestant)` (the reason) and
 * `versions`. A peer that cannot be installed is missing; our own tools failing is an error.
 */
export async function installAll(contestants, tools, targets, cache) {
  const wanted = new Map();
  for (const { tool, target = 'null' } of contestants) {
    wanted.set(`tool ${tool}`, tools[tool]);
    wanted.set(`target ${target}`, targets[target]);
  }
  const reasons = new Map();
  const versions = {};
  const install = async ([key, one]) => {
    const began = Date.now();
    try {
      if (!one) throw new Error('no such file');
      await once(one.install, cache);
      versions[one.name] = await one.version(cache);
      const seconds = Math.round((Date.now() - began) / 1000);
      if (seconds > 2) console.error(`bench: ${key} ${versions[one.name]} is ready after ${seconds} s`);
    } catch (error) {
      reasons.set(key, error.message);
      console.error(`bench: ${key} is not available: ${error.message}`);
    }
  };
  // Our own builds share Cargo's lock and come one after the other; the peers' downloads and builds fill both cores beside them.
  const [ours, peers] = halves([...wanted], ([key]) => OURS.has(key));
  await Promise.all([inOrder(ours, install), ...peers.map(install)]);
  // What fails while both cores build others' programs may succeed alone.
  for (const one of peers.filter(([key]) => reasons.has(key))) {
    reasons.delete(one[0]);
    begun.delete(one[1]?.install);
    await install(one);
  }
  for (const own of ['sonagi', 'bare']) if (reasons.has(`tool ${own}`)) throw new Error(`${own} could not be built: ${reasons.get(`tool ${own}`)}`);
  const missing = ({ tool, target = 'null' }) => reasons.get(`tool ${tool}`) ?? reasons.get(`target ${target}`);
  return { has: (contestant) => missing(contestant) === undefined, missing, versions };
}

const OURS = new Set(['tool sonagi', 'tool bare', 'target null', 'target serve', 'target serve-sqlite']);

/** Tools and targets that share an installation do it once. */
const begun = new Map();
function once(install, cache) {
  if (!begun.has(install)) begun.set(install, install(cache));
  return begun.get(install);
}

async function inOrder(list, install) {
  for (const one of list) await install(one);
}

const halves = (list, belongs) => [list.filter(belongs), list.filter((one) => !belongs(one))];
