// The foreign servers of bench/servers/ as targets: their table says of each what a target file says.
import { SERVERS as table } from '../servers/servers.mjs';

export const SERVERS = Object.fromEntries(table.map((server) => [server.name, server]));
