// What add() makes of texts, booleans, NaN, null, dates and nothing
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('counter'), gauge = new Gauge('gauge'), rate = new Rate('rate'), trend = new Trend('trend');
export const options = { iterations: 1 };
export default function () {
  for (const [name, value] of [['text of a number', '7'], ['text', 'seven'], ['true', true], ['false', false], ['NaN', NaN], ['null', null], ['undefined', undefined], ['object', {}], ['negative', -1], ['bigint', 5n], ['date', new Date(5)]]) {
    for (const metric of [counter, gauge, rate, trend]) {
      try { console.log(name, metric.name, metric.add(value)); } catch (error) { console.log(name, metric.name, 'throws', error.name); }
    }
  }
}
