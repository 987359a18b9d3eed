// The remedy `swap`: gives this machine SWAP bytes of swap space on a file, and takes them away again; with a SWAP of 0
// does nothing. As root.
//
//   SWAP='1 GiB' node swap.mjs on
//   node swap.mjs off
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';

// On a disk: /tmp may be in memory.
const FILE = '/var/tmp/sonagi-002-swap';

// A user's path often lacks what is for root.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
const run = (program, ...words) => execFileSync(program, words, { env });
const isOn = () => readFileSync('/proc/swaps', 'utf8').includes(`${FILE} `);

const { SWAP: size = '0' } = process.env;
const [word] = process.argv.slice(2);
if (!['on', 'off'].includes(word)) throw new Error("usage: SWAP='1 GiB' node swap.mjs on|off");
if (word === 'on' && size !== '0') {
  // What a run before this one could not take away would be in use.
  off();
  run('fallocate', '--length', size.replaceAll(' ', ''), FILE);
  chmodSync(FILE, 0o600);
  run('mkswap', FILE);
  run('swapon', FILE);
}
if (word === 'off') off();

function off() {
  if (isOn()) run('swapoff', FILE);
  rmSync(FILE, { force: true });
}
