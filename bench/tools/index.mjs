// Every tool, by name. To add one: its file here, one line below.
import * as artillery from './artillery.mjs';
import * as bare from './bare.mjs';
import * as gatling from './gatling.mjs';
import * as k6 from './k6.mjs';
import * as oha from './oha.mjs';
import * as pgbench from './pgbench.mjs';
import * as sonagi from './sonagi.mjs';
import * as tsung from './tsung.mjs';
import * as wrk from './wrk.mjs';
import * as node from './node.mjs';

export { artillery, bare, gatling, k6, node, oha, pgbench, sonagi, tsung, wrk };
export const TOOLS = Object.fromEntries([sonagi, bare, wrk, oha, k6, artillery, tsung, gatling, node, pgbench].map((tool) => [tool.name, tool]));
