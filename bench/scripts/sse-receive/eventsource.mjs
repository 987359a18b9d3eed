// The streams by the package eventsource in a bare loop: what a user gets who writes the load in Node. `MODULES` says where its
// packages are.
import { createRequire } from 'node:module';

const { EventSource } = createRequire(process.env.MODULES)('eventsource');
const { TARGET, ROUTE, STAY } = process.env;
const users = Number(process.env.USERS);
let received = 0;

function listen() {
  const stream = new EventSource(TARGET + ROUTE);
  stream.onmessage = () => {
    received += 1;
  };
  return new Promise((resolve) => setTimeout(() => resolve(stream.close()), STAY * 1000));
}

const arrival = (n) => new Promise((resolve) => setTimeout(() => resolve(listen()), (1000 * n) / users));
await Promise.all(Array.from({ length: users }, (_, n) => arrival(n)));
console.log(JSON.stringify({ received }));
