// The people of the churn, with one service (churn.mjs) and with a stack (churn-stack.mjs).
import { script } from '../tools/sonagi.mjs';
import { readable } from './measures.mjs';

/** What the service remembers of those who came by requests it forgets a minute and a half later: until then it fills. */
export const SETTLED_S = 120;

/** `rate` come in a second. */
export const people = (rate) => (seconds) => script('churn/churn.yml', { SECONDS: seconds, RATE: rate }, { flags: ['--seed', 7] });

export const figures = ({ users: { started, completed, failed }, traffic, delivery: { messages, owed, delivered, late, lost } }) => ({
  users: { started, completed, failed },
  connections: traffic.connections_opened,
  delivery: { messages, owed, delivered, late, lost },
});

export const told = ({ users, connections, delivery: { owed, delivered, late } }) =>
  `${readable(users.completed)} of ${readable(users.started)} people came and left, ${readable(connections)} connections, ${readable(delivered + late)} of ${readable(owed)} copies`;
