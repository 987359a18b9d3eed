// Options changed after their export, and by a function
export let options = { iterations: 5 };
options = { iterations: 2 };
options.tags = { from: 'later' };
export default function () { console.log('iteration', __ITER); }
