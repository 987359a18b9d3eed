// An option that is not known is a warning
// quick
export const options = { iterations: 1, notKnown: 1, stage: [], Scenario: {} };
export default function () { console.log('iteration'); }
