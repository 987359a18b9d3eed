// A scenario whose exec names nothing
export const options = { scenarios: { a: { executor: 'shared-iterations', exec: 'nothing' } } };
export default function () {}
