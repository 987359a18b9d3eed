// What a module finds of the names that CommonJS files have
export const options = { iterations: 1 };
export default function () {
  for (const name of ['module', 'exports']) try { console.log(name, eval(`typeof ${name}`)); } catch (error) { console.log(name, 'throws', error.name); }
}
