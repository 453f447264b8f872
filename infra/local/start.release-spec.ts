import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartedPlatform, stillRunning } from './start.fixture.ts';

const START_SECONDS = 240;
const STOP_SECONDS = 10;

describe('npm start under a process manager', () => {
  it(
    'ends within ten seconds of SIGTERM, leaves no process, and finds everything as it was',
    async () => {
      const data = realpathSync(mkdtempSync(join(tmpdir(), 'start-')));
      const facts: object[] = [];
      try {
        for (let turn = 0; turn < 2; turn += 1) {
          const platform = new StartedPlatform(data);
          await platform.shows(/Ready in .*Ctrl-C/s, START_SECONDS);
          facts.push(platform.facts);
          const pids = platform.processes();
          expect(await platform.end('SIGTERM')).toBe(0);
          expect(await stillRunning(pids, STOP_SECONDS)).toEqual([]);
          expect(platform.output).toContain('Everything is down.');
        }
      } finally {
        rmSync(data, { recursive: true, force: true });
      }
      const [first = {}, second = {}] = facts;
      expect(second).toMatchObject(kept(first));
    },
    2 * (START_SECONDS + STOP_SECONDS) * 1_000,
  );
});

/** What does not depend on the ports that were free. */
function kept(facts: object): object {
  return Object.fromEntries(Object.entries(facts).filter(([name]) => !/_url|_at$/.test(name)));
}
