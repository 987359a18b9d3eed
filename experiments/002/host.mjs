// The host of the report, all on one machine: nginx in front of the service, PostgreSQL, and what else runs there.
// SERVICE is the service: `nest` (without it) is the report's, on NestJS (../nest/src/chat), and `sonagi` is `sonagi
// serve` in its place (lib/services.mjs). Each remedy of the report that changes something on the host is a value of
// REMEDY, but for swap (swap.mjs); `none` is the host as it was. How large the machine is says chat.yml (`host`).
//
// | REMEDY | what is changed |
// |---|---|
// | none | one process of the service with 10 connections to PostgreSQL, which is as it comes (fsync, shared_buffers |
// | | 128 MB); nginx with few connections and short time-outs; two services that nobody needs |
// | processes | two processes of the service behind nginx |
// | nginx | worker_connections 4096, time-outs of an hour, connections to the service kept |
// | services | without the services that nobody needs |
// | redis | users and friends in a Redis for a minute |
// | postgres | shared_buffers 256 MB, synchronous_commit off |
// | pool | 20 connections of each process of the service |
// | pgbouncer | a PgBouncer between service and PostgreSQL: transaction pooling, 20 connections at most |
// | all | all of these that the service has |
//
// Other variables: PORT is nginx's, PG_PORT PostgreSQL's (a free one without it), NGINX_LOG is a file that nginx's
// errors go to: for scripts, which must name them before the start. SONAGI_BIN is the program that is `sonagi serve`.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOpen } from '../../interop/support/ports.mjs';
import { Started, endAllWhenInterrupted, ready } from '../bottlenecks/lib/started.mjs';
import { postgres } from '../bottlenecks/services/postgres.mjs';
import { redis } from '../bottlenecks/services/redis.mjs';
import { pgbouncer } from './lib/pgbouncer.mjs';
import { SERVICES } from './lib/services.mjs';

// What snapd and multipathd are to the report's host: memory that is held, and a look at something twice a second.
const NEEDLESS = `
  const held = Buffer.alloc(60 << 20, 1);
  setInterval(() => { let n = 0; for (let i = 0; i < 2e6; i += 1) n += held[i % held.length]; }, 500)`;
/** What PgBouncer has of PostgreSQL: as many connections as `pool` has. */
const BOUNCED = 20;

const { SERVICE = 'nest', REMEDY: remedy = 'none' } = process.env;
const services = Object.keys(SERVICES);
if (!services.includes(SERVICE)) throw new Error(`SERVICE is one of ${services.join(', ')}; got ${SERVICE}`);
const service = SERVICES[SERVICE]();
const known = ['none', ...service.remedies, 'all'];
if (!known.includes(remedy)) throw new Error(`REMEDY of ${SERVICE} is one of ${known.join(', ')}; got ${remedy}`);
const has = (name) => service.remedies.includes(name) && [name, 'all'].includes(remedy);
const port = Number(process.env.PORT ?? 3002);
const databasePort = Number(process.env.PG_PORT) || undefined;

endAllWhenInterrupted();
const started = new Started();
// A test's own PostgreSQL is started without fsync, and then no commit waits for a disk whatever is set.
const defaults = { fsync: 'on', shared_buffers: '128MB' };
const settings = has('postgres') ? { ...defaults, shared_buffers: '256MB', synchronous_commit: 'off' } : defaults;
const { url } = await postgres(started, { port: databasePort, tables: service.tables, settings });
const database = has('pgbouncer') ? await pgbouncer(started, { database: url, connections: BOUNCED }) : url;
const cache = has('redis') ? (await redis(started)).url : undefined;
if (!has('services')) for (const _ of [1, 2]) started.spawn([process.execPath, '-e', NEEDLESS]);
const [pool, count] = [has('pool') ? '20' : '10', has('processes') ? 2 : 1];
const ports = await service.start(started, { database, cache, pool, count });

await nginx();
console.log(`listening on ${port}, service: ${SERVICE}, remedy: ${remedy}, processes: ${ports.length}`);

/** nginx as Debian brings it, or as the report's author changed it. */
async function nginx() {
  const at = started.folder;
  const log = process.env.NGINX_LOG ?? join(at, 'nginx.log');
  // What a run before this one has left there is not of this one.
  writeFileSync(log, '');
  started.atEnd(() => rmSync(log, { force: true }));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${at}/${kind};`).join(' ');
  const [connections, timeouts] = has('nginx') ? [4096, 'proxy_read_timeout 3600s; proxy_send_timeout 3600s;'] : [768, ''];
  const kept = has('nginx') ? 'keepalive 64;' : '';
  const upgrade = 'proxy_http_version 1.1; proxy_set_header upgrade $http_upgrade; proxy_set_header connection $connection_upgrade;';
  writeFileSync(
    join(at, 'nginx.conf'),
    `daemon off; master_process off; pid ${at}/nginx.pid; error_log ${log};
     events { worker_connections ${connections}; }
     http {
       access_log off; ${temporary}
       map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
       upstream service { ${ports.map((each) => `server 127.0.0.1:${each};`).join(' ')} ${kept} }
       server {
         listen 127.0.0.1:${port};
         location = /nginx_status { stub_status; allow 127.0.0.1; deny all; }
         location / { ${upgrade} ${timeouts} proxy_pass http://service; }
       }
     }`,
  );
  const path = `${process.env.PATH}:/usr/sbin`;
  const server = started.spawn(['nginx', '-c', join(at, 'nginx.conf'), '-e', log], { env: { PATH: path } });
  await ready('nginx', server, () => isOpen(port));
}
