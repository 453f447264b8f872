import { jest } from '@jest/globals';
import {
  anOrganization,
  eventually,
  expectStatus,
  startTestProcess,
  testDatabase,
  TestRegistry,
  type TestProcess,
} from '@customer-platform/testing';
import type { CampaignDto } from '../src/requests/campaigns/campaign.dto.js';
import {
  addsUp,
  CampaignWorld,
  counted,
  type CampaignShop,
  type RunningMessaging,
  type StoredContact,
} from '../src/requests/campaigns/campaign.fixture.js';
import { MailSink } from '../src/mail-sink.fixture.js';
import { ALL_PERMISSIONS } from '../src/messaging.fixture.js';
import { migrations } from '../src/migrations/index.js';

const PEOPLE = 600;
/** Members of a page, so that gathering takes many. */
const PAGE = 40;
/** When the process dies: while the audience is gathered, while mails leave, and when it was paused. */
const GATHERED = 120;
const LEFT = 150;
const LEFT_BEFORE_PAUSE = 300;

jest.setTimeout(420_000);

interface Process extends RunningMessaging {
  readonly process: TestProcess;
}

async function aProcess(env: Record<string, string>): Promise<Process> {
  const mail = new MailSink();
  await mail.start();
  mail.delay = () => 5;
  const registry = await TestRegistry.start();
  const database = await testDatabase('messaging', migrations);
  const process = await startTestProcess({
    module: 'messaging',
    database,
    registry,
    env: { SMTP_URL: mail.url, ...env },
  });
  return {
    process,
    database,
    mail,
    organization: (permissions = ALL_PERMISSIONS) => {
      const { id } = anOrganization();
      return { id, api: process.as(id, permissions) };
    },
    close: async () => {
      await process.stop();
      await Promise.all([mail.stop(), registry.close()]);
      await database.drop();
    },
  };
}

describe('kill -9 of messaging in the middle of a campaign', () => {
  let world: CampaignWorld<Process>;
  let shop: CampaignShop;
  let people: StoredContact[];
  let runId: string;
  let done: CampaignDto;
  /** What was answered while it ran, whatever it was. */
  const looks: CampaignDto[] = [];
  /** Of the contents that began more than a second after the pause was answered, until it went on. */
  let late: unknown[];

  const begun = (): string[] => world.messaging.mail.begun.map(({ to }) => to);
  const killed = async (): Promise<void> => {
    const { process } = world.messaging;
    await process.crash();
    await process.restart();
  };

  beforeAll(async () => {
    world = await CampaignWorld.around(aProcess);
    world.pageSize = PAGE;
    shop = world.organization();
    people = world.people(PEOPLE);
    const campaign = await shop.campaign(people);
    runId = await shop.run(campaign);
    await shop.until(campaign, ({ last_run: run }) => (run?.counts.audience ?? 0) >= GATHERED);
    await killed();
    await eventually(() => expect(begun().length).toBeGreaterThanOrEqual(LEFT), { within: 90_000 });
    await killed();
    looks.push(await shop.shown(campaign));
    await eventually(() => expect(begun().length).toBeGreaterThan(LEFT_BEFORE_PAUSE), { within: 90_000 });
    expectStatus(await shop.patch(campaign, { paused: true }), 200);
    const answered = performance.now();
    await killed();
    looks.push(await shop.shown(campaign));
    late = world.messaging.mail.begun.filter(({ at }) => at > answered + 1_000);
    expectStatus(await shop.patch(campaign, { paused: false }), 200);
    done = await eventually(
      async () => {
        const shown = await shop.shown(campaign);
        looks.push(shown);
        expect(shown.state).toBe('completed');
        return shown;
      },
      { within: 120_000, every: 250 },
    );
  });
  afterAll(() => world.close());

  it('writes to everybody, or knows that it is in doubt', () => {
    const { sent = 0, unknown = 0, audience, ...others } = counted(done);
    expect(audience).toBe(PEOPLE);
    expect(others).toEqual({});
    expect(sent + unknown).toBe(PEOPLE);
    const reached = new Set(begun());
    const missing = people.filter(({ email }) => !reached.has(email));
    expect(missing.length).toBeLessThanOrEqual(unknown);
  });

  it('writes to nobody twice', async () => {
    expect(new Set(begun()).size).toBe(begun().length);
    const twice = await world.messaging.database.query(
      `SELECT contact_id FROM sends WHERE run_id = $1 GROUP BY contact_id HAVING count(*) > 1`,
      [runId],
    );
    expect(twice).toEqual([]);
  });

  it('adds up at every instant, and a recount says the same', async () => {
    expect(looks.filter((look) => !addsUp(look))).toEqual([]);
    expect(await world.recount(runId)).toEqual(counted(done));
  });

  it('begins nothing a second after it was paused, whoever dies', () => {
    expect(late).toEqual([]);
  });
});
