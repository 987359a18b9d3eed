// exec.scenario.progress, exec.instance and exec.vu while a test runs
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '2s' } } };
export default function () {
  const { scenario, instance, vu } = exec;
  console.log('progress', Math.round(scenario.progress * 4) / 4, 'active', instance.vusActive, 'initialized', instance.vusInitialized, 'completed', instance.iterationsCompleted, instance.iterationsInterrupted, 'since', Math.round(instance.currentTestRunDuration / 500) * 500, 'vu', vu.idInTest, vu.idInInstance, vu.iterationInInstance, vu.iterationInScenario);
  sleep(1);
}
