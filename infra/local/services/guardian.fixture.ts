/** Started by the guardian's test, which kills it: guards two shells that note in which order they were ended. */
import { Child } from './child.ts';
import { Guardian, type Stage } from './guardian.ts';

const report = process.argv[2] as string;
const guardian = new Guardian();
const start = (stage: Stage): Promise<Child> =>
  Child.start({
    name: stage,
    command: '/bin/sh',
    args: ['-c', `trap 'echo ${stage} >> "${report}"; exit' TERM; while :; do sleep 0.1; done`],
    log: `${report}.log`,
    stopSignal: 'SIGTERM',
    stage,
    guardian,
  });
const service = await start('service');
const app = await start('app');
process.stdout.write(`${JSON.stringify([service.pid, app.pid])}\n`);
setInterval(() => undefined, 1_000);
