// No options at all: one iteration
export default function () { console.log(__VU, __ITER); }
