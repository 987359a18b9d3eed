// group() with an async function
import { group } from 'k6';
export const options = { iterations: 1 };
export default function () { try { group('async', async () => 1); console.log('works'); } catch (error) { console.log('throws', error.name, error.message.split('.')[0]); } }
