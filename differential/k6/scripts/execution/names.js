// k6/execution: all members of scenario, instance, vu, test
import exec, { scenario, instance, vu, test } from 'k6/execution';
export const options = { scenarios: { mine: { executor: 'shared-iterations', vus: 1, iterations: 1, tags: { own: '1' } } } };
export default function () {
  for (const [name, of] of Object.entries({ scenario, instance, vu, test, metrics: vu.metrics })) console.log(name, Object.keys(of).sort().join(' '));
  console.log(scenario.name, scenario.executor, typeof scenario.startTime, Date.now() - scenario.startTime < 5000, scenario.progress, scenario.iterationInInstance, scenario.iterationInTest);
  console.log(vu.idInInstance, vu.idInTest, vu.iterationInInstance, vu.iterationInScenario, Object.keys(vu.tags).sort().join(), Object.keys(vu.metrics.tags).sort().join(), JSON.stringify(vu.metrics.metadata));
  console.log(typeof test.abort, typeof test.fail, test.options.scenarios.mine.executor);
}
