// STOMP by @stomp/stompjs in a bare loop: what a user gets who writes the load in Node. `MODULES` says where its packages are.
import { createRequire } from 'node:module';

const require = createRequire(process.env.MODULES);
const { Client } = require('@stomp/stompjs');
globalThis.WebSocket = require('ws');

const { TARGET, ROUTE, DESTINATION, STAY } = process.env;
const users = Number(process.env.USERS);
let received = 0;

async function listen() {
  const client = new Client({ brokerURL: TARGET.replace('http', 'ws') + ROUTE, heartbeatIncoming: 0, heartbeatOutgoing: 0, reconnectDelay: 0 });
  client.onConnect = () => {
    client.subscribe(DESTINATION, () => {
      received += 1;
    });
  };
  client.activate();
  await new Promise((resolve) => setTimeout(resolve, STAY * 1000));
  await client.deactivate();
}

const arrival = (n) => new Promise((resolve) => setTimeout(() => resolve(listen()), (1000 * n) / users));
await Promise.all(Array.from({ length: users }, (_, n) => arrival(n)));
console.log(JSON.stringify({ received }));
