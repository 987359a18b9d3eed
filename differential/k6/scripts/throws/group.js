// A throw in a group, and whether the group was timed
import { group } from 'k6';
export const options = { iterations: 1 };
export default function () {
  try { group('outer', () => group('inner', () => { throw new Error('in a group'); })); } catch (error) { console.log('caught', error.message); }
}
