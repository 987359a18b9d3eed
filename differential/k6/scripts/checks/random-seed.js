// randomSeed: Math.random is the same again
import { randomSeed } from 'k6';
export const options = { iterations: 1 };
export default function () {
  randomSeed(7); const one = [Math.random(), Math.random()];
  randomSeed(7); const two = [Math.random(), Math.random()];
  randomSeed(8); console.log(one.join() === two.join(), one[0] === Math.random());
}
