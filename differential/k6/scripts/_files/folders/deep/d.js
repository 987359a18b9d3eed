export const later = (name) => open(name);
console.log('deep/d.js', open('t.txt').trim());
