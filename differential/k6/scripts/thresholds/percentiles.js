// Percentiles of one, two, three and four values, as summaries tell them
import { Trend } from 'k6/metrics';
const trends = [1, 2, 3, 4].map((count) => new Trend(`of_${count}`));
export const options = { iterations: 1, summaryTrendStats: ['p(1)', 'p(25)', 'med', 'p(75)', 'p(99.99)', 'avg'] };
export default function () { trends.forEach((trend, at) => { for (let value = 0; value <= at; value += 1) trend.add(value * value * 1.1); }); }
