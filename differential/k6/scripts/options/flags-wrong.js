// Flags that cannot be read
// flags: --duration soon
export default function () { console.log('never'); }
