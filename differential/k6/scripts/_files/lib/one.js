console.log('one is loaded');
let times = 0;
export const one = 'one';
export const count = () => (times += 1);
