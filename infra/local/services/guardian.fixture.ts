/** Started by the guardian's test, which kills it: guards two shells that note in which order they were ended. */
import { existsSync } from 'node:fs';
import { Child } from './child.ts';
import { Guardian, type Stage } from './guardian.ts';

const report = process.argv[2] as string;
const guardian = new Guardian();

/** Resolves when the shell is ready to note its end; killed before, it would end without a word. */
async function start(stage: Stage): Promise<Child> {
  const ready = `${report}.${stage}`;
  const script = `trap 'echo ${stage} >> "${report}"; exit' TERM; : > "${ready}"; while :; do sleep 0.1; done`;
  const child = await Child.start({
    name: stage,
    command: '/bin/sh',
    args: ['-c', script],
    log: `${report}.log`,
    stopSignal: 'SIGTERM',
    stage,
    guardian,
  });
  while (!existsSync(ready)) await new Promise((wait) => setTimeout(wait, 20));
  return child;
}

const service = await start('service');
const app = await start('app');
process.stdout.write(`${JSON.stringify([service.pid, app.pid])}\n`);
setInterval(() => undefined, 1_000);
