// A program started again and again, each start timed by the shell, so that what is timed is the program and not the harness.

/** Makes a contestant's command one that runs `times` times, one after the other, in milliseconds each on standard error. */
export const repeated = (times, contestant) => ({
  ...contestant,
  // Memory is of the program alone: the shell is the root.
  sample_ms: 2,
  command: (context) => {
    const { argv, ...rest } = contestant.command(context);
    // The words come as arguments: nothing of them is read by the shell.
    const loop = `TIMEFORMAT="took %3R s"; for n in {1..${times}}; do time "$@" >/dev/null 2>&1 || echo failed; done`;
    return { ...rest, argv: ['bash', '-c', loop, 'bash', ...argv] };
  },
  report: ({ stdout, stderr }) => {
    if (stdout.includes('failed')) throw new Error('a start failed');
    return [...stderr.matchAll(/took ([\d.]+) s/g)].map((found) => Number(found[1]) * 1000);
  },
});
