// Tag values with colons, quotes and slashes in a threshold's name
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { iterations: 1, thresholds: { 'counter{url:http://a/b}': ['count==1'], 'counter{group:::a::b}': ['count==1'], "counter{said:'quoted'}": ['count==1'], 'counter{said:"double"}': ['count==1'] } };
export default function () {
  counter.add(1, { url: 'http://a/b' });
  counter.add(1, { group: '::a::b' });
  counter.add(1, { said: 'quoted' });
  counter.add(1, { said: 'double' });
}
