import { count } from './one.js';
export const counted = count();
export default 'two';
