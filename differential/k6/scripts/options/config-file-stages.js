// duration of the script wipes the stages of the config file
// flags: --config _files/stages.json
import { sleep } from 'k6';
export const options = { duration: '1s', vus: 1 };
export default function () { sleep(0.6); console.log('iteration'); }
