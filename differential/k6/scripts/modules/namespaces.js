// What each module of k6 exports
import * as k6 from 'k6';
import * as http from 'k6/http';
import * as ws from 'k6/ws';
import * as websockets from 'k6/websockets';
import * as metrics from 'k6/metrics';
import * as execution from 'k6/execution';
import * as data from 'k6/data';
import * as encoding from 'k6/encoding';
import * as crypto from 'k6/crypto';
import * as html from 'k6/html';
import * as timers from 'k6/timers';
import * as secrets from 'k6/secrets';
import * as csv from 'k6/experimental/csv';
import * as fs from 'k6/experimental/fs';
import * as streams from 'k6/experimental/streams';
export const options = { iterations: 1 };
const all = { k6, http, ws, websockets, metrics, execution, data, encoding, crypto, html, timers, secrets, csv, fs, streams };
export default function () {
  for (const [name, module] of Object.entries(all)) {
    console.log(name, Object.keys(module).filter((name) => name !== 'default').sort().join(' '));
  }
}
