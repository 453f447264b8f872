import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startChromium } from '@customer-platform/testing';
import { SHELLS, documentedCommands, pasteInClone } from './documented-commands.fixture.ts';
import { ROOT } from './platform/modules.ts';
import type { DemoFacts } from './platform/summary.ts';
import { StartedPlatform, stillRunning } from './start.fixture.ts';

/** A cold start fetches Kafka and builds; the machine may be busy with other tests. */
const START_SECONDS = 240;
const STOP_SECONDS = 10;
/** Effects of an event, on a machine that does other things too. */
const EFFECTS = { within: 90_000, every: 500 };
const PATIENCE_MS = 2 * START_SECONDS * 1000;

const occupied: Server[] = [];
let data: string;
let platform: StartedPlatform | undefined;
let first: DemoFacts;

/** Another program has the port; if one has it already, so much the better. */
function occupy(port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve());
    server.listen(port, () => {
      occupied.push(server);
      resolve();
    });
  });
}

beforeAll(async () => {
  data = realpathSync(mkdtempSync(join(tmpdir(), 'start-')));
  await Promise.all([8080, 5432, 9092].map(occupy));
});
afterAll(async () => {
  await platform?.end('SIGTERM');
  for (const server of occupied) server.close();
  rmSync(data, { recursive: true, force: true });
}, 30_000);

/** `npm run platform -- …` */
const operate = (...words: string[]): string =>
  execFileSync(process.execPath, ['infra/local/platform-command.ts', ...words], {
    encoding: 'utf8',
    cwd: ROOT,
  });

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are read as they come; assertions judge them
type Json = any;

/** A printed command, pasted into a shell. */
function paste(line: string): Json {
  return JSON.parse(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' }));
}

/** The three commands printed. */
function printed(): [string, string, string] {
  const lines = (platform as StartedPlatform).output.split('\n').filter((line) => line.startsWith('curl '));
  return lines as [string, string, string];
}

/** What came of the event so far. On a machine busy with other tests its effects take more than the seconds printed. */
function chainOf(id: string, timeline: Json): Json[] {
  return timeline.data.filter((item: Json) => item.correlation_id === id);
}

/** What a platform leaves behind that could not start again: nothing of it may be used. */
const REMAINS = {
  'demo.json': JSON.stringify({
    organization_id: 'of before',
    admin_key: 'of before',
    contact_id: 'of before',
  }),
  'secrets.json': '{}',
  'postgres/cluster/PG_VERSION': '9',
  'kafka/logs/meta.properties': 'cluster.id=of-before',
};

/** Organization, keys and customer are those of the first start, and one more purchase has come through. */
async function expectAsItWas(purchases: number): Promise<void> {
  const { facts } = platform as StartedPlatform;
  const {
    base_url: _changes,
    mail_url: _too,
    console_url: _also,
    console_registered_at: _so,
    ...kept
  } = facts;
  expect(first).toMatchObject(kept);
  const [track, timeline] = printed();
  const { event_id: id } = paste(track);
  await eventually(() => expect(chainOf(id, paste(timeline))).toHaveLength(3), EFFECTS);
  const path = `${facts.base_url}/v1/core/events?event=purchase_completed`;
  const answer = await fetch(path, { headers: { authorization: `Bearer ${first.admin_key}` } });
  expect(((await answer.json()) as Json).data).toHaveLength(purchases);
}

describe('npm start', () => {
  it(
    'starts everything beside programs that have the usual ports, says which it takes instead, and begins anew with --reset',
    async () => {
      for (const [name, text] of Object.entries(REMAINS)) {
        mkdirSync(join(data, name, '..'), { recursive: true });
        writeFileSync(join(data, name), text);
      }
      platform = new StartedPlatform(data, '--reset');
      await platform.shows(/Ready in .*Ctrl-C/s, START_SECONDS);
      expect(platform.output).toContain(`emptied ${data}`);
      first = platform.facts;
      expect(JSON.stringify(first)).not.toContain('of before');
      const port = Number(new URL(first.base_url).port);
      expect(port).toBeGreaterThan(8080);
      expect(platform.output).toContain(`port 8080 is another program's: the API takes ${port}`);
      expect(platform.output).toContain(`API               ${first.base_url}`);
      const [, told = ''] = /Ready in [^\n]*\n\n([^\n]*)/.exec(platform.output) ?? [];
      expect(told.trim()).toBe(`Console           ${first.console_url}`);
      expect(first.console_url).toBe(`${first.base_url}/console/`);
      expect(platform.output).toContain(`Sign in as        ${first.user_email}`);
      expect(platform.output).toContain(`Password          ${first.user_password}`);
      expect(statSync(join(data, 'demo.json')).mode & 0o777).toBe(0o600);
      expect(Object.keys(first.database_urls).sort()).toEqual([
        'core',
        'crm',
        'identity',
        'loyalty',
        'messaging',
      ]);
    },
    PATIENCE_MS,
  );

  it('prints three commands that show one correlation id through event, points, mail and timeline', async () => {
    const [track, timeline, mail] = printed();
    const { event_id: id } = paste(track);
    const shown = await eventually(() => {
      const page = paste(timeline);
      const sources = chainOf(id, page).map((item: Json) => item.source);
      expect(sources.sort()).toEqual(['core', 'loyalty', 'messaging']);
      return page;
    }, EFFECTS);
    expect(chainOf(id, shown).find((item: Json) => item.source === 'loyalty').data.points).toBe(12);
    expect(shown.unreachable).toEqual([]);
    expect(paste(mail).data[0]).toMatchObject({ correlation_id: id, subject: 'Gracias por tu compra, Ana' });
  }, 60_000);

  it('lets the demo user sign in to the Console at once, and again by itself when it is loaded anew', async () => {
    const browser = await startChromium();
    try {
      const page = await browser.newPage({ locale: 'en-US' });
      const refused: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy|Trusted/i.test(message.text())) refused.push(message.text());
      });
      const known = () =>
        page.waitForResponse((answer) => answer.url().endsWith('/oauth/userinfo') && answer.status() === 200);
      await page.goto(first.console_url);
      await page.getByLabel('Email').fill(first.user_email ?? '');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Password').fill(first.user_password ?? '');
      const [answer] = await Promise.all([known(), page.getByRole('button', { name: 'Sign in' }).click()]);
      expect(await answer.json()).toMatchObject({
        email: first.user_email,
        organization: { id: first.organization_id },
        restriction: null,
      });
      expect(page.url()).toContain(first.console_url);
      await Promise.all([known(), page.reload()]);
      expect(page.url()).toContain(first.console_url);
      expect(refused).toEqual([]);
    } finally {
      await browser.close();
    }
  }, 60_000);

  it('does what the README says of the first event', async () => {
    const [track = '', timeline = ''] = documentedCommands('README.md');
    const shells = [...SHELLS.map((shell) => [shell]), ['/bin/sh', '-e'], ['/bin/sh', '-e']];
    const answers = shells.map((shell) => pasteInClone(data, track, shell));
    const ids = answers.map((answer) => {
      expect(answer).toMatch(/^HTTP\/1.1 202 /u);
      return JSON.parse(answer.slice(answer.indexOf('{'))).event_id;
    });
    expect(new Set(ids).size).toBe(1);
    await eventually(async () => {
      const page = `${first.base_url}/v1/crm/contacts/${first.contact_id}/timeline`;
      const answer = await fetch(page, { headers: { authorization: `Bearer ${first.admin_key}` } });
      const titles = chainOf(ids[0], await answer.json()).map(({ title }) => title);
      expect(titles.sort()).toEqual(['earn +12', 'email sent', 'purchase_completed']);
    }, EFFECTS);
    for (const shell of shells)
      // A module that is too busy to answer is left out of a timeline.
      await eventually(() => {
        const shown = pasteInClone(data, `export base=${first.base_url}\n${timeline}`, shell);
        for (const title of ['earn +12', 'email sent', 'purchase_completed'])
          expect(shown).toContain(`'${title}, ${ids[0]}'`);
      }, EFFECTS);
  }, 60_000);

  it('leads the first user from the invitation to signing in, as docs/first-user.md says', () => {
    const asked = 'npm run --silent sign-in';
    const commands = documentedCommands('docs/first-user.md').join('\n');
    expect(commands).toContain(asked);
    const node = (script: string) => `${process.execPath} ${join(ROOT, 'infra/local', script)}`;
    const output = pasteInClone(
      data,
      commands.replace(
        asked,
        `BROWSER="${node('sign-in-browser.fixture.ts')}" ${node('sign-in.ts')} --data ${data}`,
      ),
    );
    expect(output).toContain('otpauth://');
    expect(output).toContain('"name":"Shop"');
    expect(output).toMatch(/"key":"cpk_live_/u);
    // Told of the invitation, and of who has signed in, by two of the platform's ways.
    expect(output.match(/"email":"ana@example.com"/gu)).toHaveLength(3);
    expect(output).toMatch(/"external_id":"[^"]+"/u);
  }, 120_000);

  it('lets its audit logs be verified', () => {
    const report = operate('--data', data, 'audit', 'verify');
    expect(report).toContain(`intact  ${first.organization_id}`);
    expect(report).toContain(', 0 broken');
  }, 60_000);

  it('lets its dead letters be listed, of one module or of all', () => {
    const list = (...more: string[]) => operate(...more, '--data', data, 'events', 'dead-letters', 'list');
    expect(list()).toBe('0 dead letters\n'.repeat(4));
    expect(list('--module', 'messaging')).toBe('0 dead letters\n');
  }, 60_000);

  it('is not started twice on one folder', async () => {
    const second = new StartedPlatform(data);
    expect(await second.exit()).toBe(1);
    expect(second.output.trim()).toMatch(
      /^The platform is running already \(process \d+, .*\): use it, or stop it/,
    );
  }, 60_000);

  it('starts again what dies, and says so', async () => {
    const running = platform as StartedPlatform;
    const pids = JSON.parse(execFileSync('cat', [join(data, 'processes.json')], { encoding: 'utf8' }));
    process.kill(pids.find(({ name }: { name: string }) => name === 'loyalty').pid, 'SIGKILL');
    await running.shows(/loyalty ended by itself \(SIGKILL\)/, 10);
    await running.shows(/loyalty is back after/, 60);
  }, 90_000);

  it('leaves no process when it is killed with -9', async () => {
    const running = platform as StartedPlatform;
    const pids = running.processes();
    expect(pids.length).toBeGreaterThan(12);
    process.kill(running.supervisor(), 'SIGKILL');
    await running.exit();
    expect(await stillRunning(pids, 30)).toEqual([]);
  }, 60_000);

  it(
    'comes back from that by itself with everything as it was; Ctrl-C ends it within ten seconds and leaves no process',
    async () => {
      platform = new StartedPlatform(data);
      await platform.shows(/Ready in .*Ctrl-C/s, START_SECONDS);
      await expectAsItWas(3);
      const pids = platform.processes();
      expect(await platform.end('SIGINT')).toBe(0);
      expect(await stillRunning(pids, STOP_SECONDS)).toEqual([]);
      expect(platform.output).toContain('Everything is down.');
    },
    PATIENCE_MS,
  );
});
