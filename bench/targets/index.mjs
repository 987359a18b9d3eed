// Every target, by name: our own from this folder, the foreign ones from bench/servers/. To add one: its file here, one line below.
import { SERVERS } from '../servers/servers.mjs';
import * as nothing from './null.mjs';
import * as eager from './serve-eager.mjs';
import * as logins from './serve-logins.mjs';
import * as sqlite from './serve-sqlite.mjs';
import * as serve from './serve.mjs';
import { appends, heard, one, three } from './stacks.mjs';

export const TARGETS = Object.fromEntries([nothing, serve, eager, logins, sqlite, appends, one, heard, three, ...SERVERS].map((target) => [target.name, target]));
