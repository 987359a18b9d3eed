// The people of the churn, with one service (churn.mjs) and with a stack (churn-stack.mjs).
import { script } from '../tools/sonagi.mjs';
import { readable } from './measures.mjs';

/** The service remembers who came by requests for a minute and a half: until then it fills. */
export const SETTLED_S = 120;

/** `rate` come in a second. */
export const people = (rate) => (seconds) =>
  script('churn/churn.yml', { SECONDS: seconds, RATE: rate }, { flags: ['--seed', 7] });

export const figures = ({ users, traffic, delivery }) => ({
  users: { started: users.started, completed: users.completed, failed: users.failed },
  connections: traffic.connections_opened,
  delivery: {
    messages: delivery.messages,
    owed: delivery.owed,
    delivered: delivery.delivered,
    late: delivery.late,
    lost: delivery.lost,
  },
});

export const told = ({ users, connections, delivery: { owed, delivered, late } }) =>
  [
    `${readable(users.completed)} of ${readable(users.started)} people came and left`,
    `${readable(connections)} connections`,
    `${readable(delivered + late)} of ${readable(owed)} copies`,
  ].join(', ');
