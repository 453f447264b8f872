import { randomUUID } from 'node:crypto';
import { Controller, Module, type INestApplication } from '@nestjs/common';
import { Database, DatabaseModule } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import {
  aBus,
  aDatabase,
  anIsolatedKafka,
  consentOf,
  eventually,
  given,
  inOrganization,
} from '../../test/a-bus.js';
import { EventBusModule } from '../event-bus.module.js';
import { Inbox } from '../inbox/inbox.js';
import { OnEvent } from '../on-event.decorator.js';
import { Outbox } from '../outbox/outbox.js';
import { runParkedEvents } from './parked-events.command.js';

type Consent = DomainEvent<'core.consent.recorded.v1'>;

/** What a programmer's mistake keeps from being processed, until it is put right. */
const mistakes = new Set<string>();
const taken: string[] = [];

/** Counts each event once, as consumers do. */
@Controller()
class Counting {
  constructor(
    private readonly database: Database,
    private readonly inbox: Inbox,
  ) {}

  @OnEvent('core.consent.recorded.v1')
  async count(events: Consent[]): Promise<void> {
    for (const { organizationid: organizationId, id, data } of events) {
      await this.database.inOrganization({ organizationId }, async (tx) => {
        if (!(await this.inbox.claim(tx, 'counting', [id])).has(id)) return;
        await tx.query(`INSERT INTO counters VALUES ($1, $2, 1)`, [organizationId, data.purpose]);
        if (mistakes.has(data.purpose)) throw new TypeError('a mistake');
      });
    }
  }
}

/** Has nothing to do with the mistakes of the other. */
@Controller()
class Beside {
  @OnEvent('core.consent.recorded.v1')
  take(events: Consent[]): Promise<void> {
    taken.push(...events.map(({ data }) => data.purpose));
    return Promise.resolve();
  }
}

@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'core', entities: [], migrations: [] }),
    EventBusModule.forRoot({ module: 'core' }),
  ],
  controllers: [Counting, Beside],
})
class Root {}

let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;
const level = log.level;
beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([Counting, Beside]);
});
afterAll(async () => {
  log.level = level;
  await app.close();
  await database.drop();
});

interface Line {
  id: string;
  delivered: boolean;
  error?: string;
}

/** The command as an operator runs it, beside the running service. */
async function command(...args: string[]): Promise<{ code: number; text: string; lines: Line[] }> {
  let text = '';
  const code = await runParkedEvents({ module: 'core', root: Root, args, write: (more) => (text += more) });
  const json = args.includes('--json');
  const lines = json
    ? text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Line)
    : [];
  return { code, text, lines };
}

const parkedIn = (organizationId: string) =>
  inOrganization(app, organizationId, (tx) =>
    tx.query<{ id: string; attempts: number; error: string }>(
      'SELECT id, attempts, error FROM parked_events ORDER BY id',
    ),
  );

const counted = async (organizationId: string): Promise<string[]> => {
  const rows = await inOrganization(app, organizationId, (tx) =>
    tx.query<{ key: string }>('SELECT key FROM counters WHERE organization_id = $1 ORDER BY key', [
      organizationId,
    ]),
  );
  return rows.map(({ key }) => key);
};

/** Events of one contact that are parked, in their order. */
const parked = (...names: string[]): ReturnType<typeof parkedOf> => {
  const contactId = randomUUID();
  return parkedOf(names, () => contactId);
};

async function parkedOf(
  names: readonly string[],
  contactOf: () => string,
): Promise<{ organizationId: string; ids: string[] }> {
  const organizationId = randomUUID();
  for (const name of names) mistakes.add(name);
  await inOrganization(app, organizationId, (tx) =>
    app.get(Outbox).append(
      tx,
      names.map((name) => consentOf(organizationId, contactOf(), name)),
    ),
  );
  await eventually(async () => expect(await parkedIn(organizationId)).toHaveLength(names.length));
  return { organizationId, ids: (await parkedIn(organizationId)).map(({ id }) => id) };
}

describe('parked-events redeliver', () => {
  it('gives each its effect once its cause is removed, and to nobody who had it already', async () => {
    const { organizationId } = await parked('one', 'two');
    const own = ['--organization', organizationId];
    const before = [...taken];
    expect(before).toEqual(['one', 'two']);

    const tooEarly = await command('redeliver', '--all', '--json', ...own);
    expect(tooEarly.code).toBe(1);
    expect(tooEarly.lines.map(({ delivered, error }) => [delivered, error])).toEqual([
      [false, 'TypeError: a mistake'],
      [false, 'TypeError: a mistake'],
    ]);
    expect((await parkedIn(organizationId)).map(({ attempts }) => attempts)).toEqual([4, 4]);

    mistakes.clear();
    const { code, text } = await command('redeliver', '--all', ...own);
    expect({ code, text }).toEqual({
      code: 0,
      text: expect.stringMatching(/^(delivered .*\n){2}2 delivered, 0 still parked\n$/) as string,
    });
    expect(await counted(organizationId)).toEqual(['one', 'two']);
    expect(taken).toEqual(before);
    expect(await command('redeliver', '--all', ...own)).toMatchObject({
      code: 0,
      text: '0 delivered, 0 still parked\n',
    });
    expect(await counted(organizationId)).toEqual(['one', 'two']);
  });

  it('takes one by its id, or those of a consumer', async () => {
    const { organizationId, ids } = await parked('a', 'b', 'c');
    mistakes.clear();
    await command('redeliver', '--id', given(ids[1], 'id'));
    expect(await counted(organizationId)).toEqual(['b']);
    const nobody = await command('redeliver', '--all', '--consumer', 'core.domain-events/Nobody');
    expect(nobody.text).toBe('0 delivered, 0 still parked\n');
    const consumer = 'core.domain-events/Counting';
    await command('redeliver', '--all', '--consumer', consumer, '--organization', organizationId);
    expect(await counted(organizationId)).toEqual(['a', 'b', 'c']);
  });

  it('has one effect where several operators run it at once', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `at once ${String(at).padStart(2, '0')}`);
    const { organizationId } = await parkedOf(names, randomUUID);
    mistakes.clear();
    const runs = await Promise.all(
      [1, 2, 3].map(() => command('redeliver', '--all', '--organization', organizationId)),
    );
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    // A second effect would break the table's key, and leave its event parked.
    expect(await counted(organizationId)).toEqual(names);
    expect(await parkedIn(organizationId)).toEqual([]);
  });

  it('reads a message again that could not be read, and tells of a consumer that is no more', async () => {
    const { organizationId, ids } = await parked('unreadable', 'orphaned');
    const set = (id: string | undefined, column: string, value: string): Promise<unknown> =>
      inOrganization(app, organizationId, (tx) =>
        tx.query(`UPDATE parked_events SET ${column} = $2 WHERE id = $1`, [id, value]),
      );
    mistakes.clear();
    await set(ids[0], 'payload', '{"no": "event"}');
    await set(ids[1], 'consumer', 'core.domain-events/Former');
    const { code, lines } = await command('redeliver', '--all', '--json', '--organization', organizationId);
    expect(code).toBe(1);
    expect(lines.map(({ error }) => error?.split(':')[0])).toEqual([
      'InvalidDomainEvent',
      'NobodySubscribes',
    ]);
    // The group's name alone is all of its consumers, each of which knows what it has had.
    await set(ids[1], 'consumer', 'core.domain-events');
    await command('redeliver', '--id', given(ids[1], 'id'));
    expect(await counted(organizationId)).toEqual(['orphaned']);
  });
});

describe('parked-events list', () => {
  it('shows what waits and why, without what it says', async () => {
    const { organizationId, ids } = await parked('shown');
    const own = ['--organization', organizationId];
    const { code, text } = await command('list', ...own);
    expect(code).toBe(0);
    expect(text).toContain(`${given(ids[0], 'id')}  `);
    expect(text).toContain('core.consent.recorded.v1  core.domain-events/Counting');
    expect(text).toContain('3 tries: TypeError: a mistake');
    expect(text).toMatch(/1 parked\n$/);
    expect(text).not.toContain('shown');
    const { lines } = await command('list', '--json', ...own);
    expect(lines).toEqual([expect.objectContaining({ id: ids[0], attempts: 3 })]);
    expect(lines[0]).not.toHaveProperty('payload');
    expect((await command(...own)).text).toBe(text);
  });

  it.each([
    [['forget'], 'forget is neither list nor redeliver.'],
    [['redeliver'], 'redeliver needs --all, or each --id.'],
    [['redeliver', '--all', '--id', randomUUID()], 'redeliver needs --all, or each --id.'],
    [['list', '--unknown'], "Unknown option '--unknown'"],
  ])('ends with 2 for %j, and says why', async (args, reason) => {
    const { write } = process.stderr;
    let said = '';
    process.stderr.write = (text: string) => (said += text) !== '';
    try {
      expect((await command(...args)).code).toBe(2);
    } finally {
      process.stderr.write = write;
    }
    expect(said).toContain(reason);
    expect(said).toContain('--help tells how it is used.');
  });

  it('--help says what it does', async () => {
    const { code, text } = await command('--help');
    expect(code).toBe(0);
    expect(text).toContain('node apps/core/dist/parked-events.js redeliver (--all | --id ID …)');
  });
});
