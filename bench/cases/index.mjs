// The cases, in the order in which they run and are shown. To add one: its file here, one line below.
export const CASES = [
  'http-closed',
];

export async function load(name) {
  return (await import(`./${name}.mjs`)).default;
}
