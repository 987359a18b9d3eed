// Random numbers from a seed: the same seed draws the same, whatever Node's own generator does.

/** A generator of numbers from 0 to 1, by splitmix32: a counter, mixed. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** A seed made of numbers, so that neighbours have nothing in common: each step goes through the generator. */
export const seedOf = (...numbers) =>
  numbers.reduce((seed, number) => Math.floor(random(seed ^ number)() * 2 ** 32), 1);

/** A standard normal number (Box and Muller). */
export const normal = (next) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
