// A throw in an interval
export const options = { iterations: 1 };
export default function () {
  let times = 0;
  setInterval(() => { times += 1; if (times === 2) throw new Error('at the second time'); console.log('time', times); }, 20);
}
