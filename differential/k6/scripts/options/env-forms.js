// K6_* for lists, durations and stages
// env: K6_STAGES=500ms:1,500ms:0 K6_SUMMARY_TREND_STATS=avg,max K6_SYSTEM_TAGS=group K6_THROW=true K6_MIN_ITERATION_DURATION=200ms K6_NO_COOKIES_RESET=true K6_MAX_REDIRECTS=3
// without ended: how many iterations fit is a matter of milliseconds
// without summary iterations: how many iterations fit is a matter of milliseconds
// without points iter*: how many iterations fit is a matter of milliseconds
import exec from 'k6/execution';
export const options = { iterations: 5 };
let told = false;
export default function () { if (!told) console.log(JSON.stringify(exec.test.options.scenarios.default.stages), exec.test.options.throw, exec.test.options.maxRedirects, exec.test.options.minIterationDuration, exec.test.options.noCookiesReset); told = true; }
