// Every target, by name. To add one: its file here, one line below.
import * as nothing from './null.mjs';
import * as serve from './serve.mjs';
import * as sqlite from './serve-sqlite.mjs';
import { SERVERS } from './servers.mjs';

export const TARGETS = { ...Object.fromEntries([nothing, serve, sqlite].map((target) => [target.name, target])), ...SERVERS };
