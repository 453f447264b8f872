import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import {
  buildAll,
  END_WITHIN_MS,
  eventually,
  expectStatus,
  MODULES,
  PlatformUnderTest,
  runScript,
  START_WITHIN_MS,
  type Module,
  type Tenant,
} from '@customer-platform/testing';
import { contactOf, prepareChain, sendPurchase } from './chain.fixture.js';

jest.setTimeout(180_000);

const SETTLED = { within: 60_000 };
const PREFIX = 'guarded-';

interface Acl {
  readonly type: string;
  readonly name?: string;
  readonly isPrefix: boolean;
  readonly operations: readonly string[];
}

/** What is used of a helper of the event bus's own tests; of another package, so loaded at run time. */
interface GuardedBroker {
  environmentOf(user: string): Record<string, string>;
  allow(user: string, acls: readonly Acl[]): Promise<void>;
  write(user: string, topic: string, value: string): Promise<void>;
  administrate<T>(
    user: string,
    work: (admin: {
      createTopics(given: { topics: { topic: string }[] }): Promise<unknown>;
      deleteTopics(given: { topics: string[] }): Promise<unknown>;
      alterConfigs(given: object): Promise<unknown>;
      createPartitions(given: object): Promise<unknown>;
    }) => Promise<T>,
  ): Promise<T>;
  remove(): Promise<void>;
}

let broker: GuardedBroker;
let platform: PlatformUnderTest;
let tenant: Tenant;
const acls = new Map<Module, Acl[]>();

beforeAll(async () => {
  await buildAll();
  const file = new URL('../../../libs/event-bus/test/guarded-broker.ts', import.meta.url).href;
  const { GuardedBroker: Guarded } = (await import(file)) as {
    GuardedBroker: { start(users: readonly string[]): Promise<GuardedBroker> };
  };
  broker = await Guarded.start(MODULES);
  const env = { KAFKA_TOPIC_PREFIX: PREFIX };
  for (const module of MODULES) {
    // Needs no other variable: the rights are given before anything is there.
    const printed = await runScript(`apps/${module}/dist/platform.js`, ['kafka', 'acls', '--json'], env);
    const { user, acls: told } = JSON.parse(printed) as { user: string; acls: Acl[] };
    acls.set(module, told);
    await broker.allow(user, told);
  }
  const extra = MODULES.map((module) => [module, { ...env, ...broker.environmentOf(module) }]);
  platform = await PlatformUnderTest.start(
    Object.fromEntries(extra) as Record<string, Record<string, string>>,
  );
  tenant = await platform.tenant();
  await prepareChain(tenant);
}, START_WITHIN_MS);
afterAll(async () => {
  await platform.stop();
  await broker.remove();
}, END_WITHIN_MS);

const topics = () => [
  ...new Set(
    [...acls.values()]
      .flat()
      .flatMap(({ type, name, isPrefix }) => (type === 'topic' && !isPrefix ? (name ?? []) : [])),
  ),
];
const may = (module: Module, topic: string, operation: string): boolean =>
  acls.get(module)?.some(({ name, operations }) => name === topic && operations.includes(operation)) ?? false;

/** The name of the broker's refusal. */
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'allowed',
    (error: unknown) => {
      for (let at = error as { type?: string; errors?: unknown[]; cause?: unknown } | undefined; at;) {
        if (at.type) return at.type;
        at = (at.errors?.[0] ?? at.cause) as typeof at;
      }
      throw error;
    },
  );

describe('modules that are allowed what they ask for, and nothing else', () => {
  it('do their work: an event earns points and a mail, and an erasure is carried out by all', async () => {
    const { externalId } = await sendPurchase(tenant.ingestion);
    const { admin } = tenant;
    const contactId = await contactOf(admin, externalId);
    await eventually(async () => {
      const sql = 'SELECT sum(points) AS points FROM lines WHERE organization_id = $1';
      expect(await platform.query('loyalty', sql, [tenant.id])).toEqual([{ points: '12' }]);
      expect(await platform.mailsTo(`${externalId}@example.com`)).toHaveLength(1);
    }, SETTLED);
    const note = { contact_id: contactId, body: 'A note.' };
    await eventually(async () => expectStatus(await admin.post('/v1/crm/notes', note), 201), SETTLED);
    const asked = await admin.post<{ id: string }>('/v1/core/subject-requests', {
      type: 'erasure',
      contact_id: contactId,
      verification: { method: 'clave_unica', reference: randomUUID() },
    });
    expectStatus(asked, 202);
    await eventually(async () => {
      const { body } = await admin.get<{ state: string }>(`/v1/core/subject-requests/${asked.body.id}`);
      expect(body.state).toBe('completed');
    }, SETTLED);
    await eventually(async () => {
      const { body } = await admin.get<{ data: { action: string }[] }>('/v1/core/audit-log');
      const modules = new Set(body.data.map(({ action }) => action.split('.')[0]));
      expect([...modules].sort()).toEqual(['core', 'crm', 'identity', 'loyalty', 'messaging']);
    }, SETTLED);
    expect(await platform.command('core', 'audit', 'verify')).toMatchObject({ status: 0 });
    expect(platform.logs).not.toMatch(/AUTHORIZATION_FAILED|not authorized/i);
  });

  it.each(MODULES)(
    '%s writes to no topic of another, and neither makes, sets nor deletes one',
    async (module) => {
      for (const topic of topics()) {
        const written = await refusal(
          may(module, topic, 'Write') ? Promise.resolve() : broker.write(module, topic, '{}'),
        );
        expect([topic, written]).toEqual([
          topic,
          may(module, topic, 'Write') ? 'allowed' : 'TOPIC_AUTHORIZATION_FAILED',
        ]);
        if (may(module, topic, 'Create')) continue;
        const denied = 'TOPIC_AUTHORIZATION_FAILED';
        const configEntries = [{ name: 'retention.ms', value: '1' }];
        await broker.administrate(module, async (admin) => {
          const resources = [{ type: 2, name: topic, configEntries }];
          expect(await refusal(admin.alterConfigs({ validateOnly: false, resources }))).toBe(denied);
          const grown = { topicPartitions: [{ topic, count: 9 }] };
          expect(await refusal(admin.createPartitions(grown))).toBe(denied);
          expect(await refusal(admin.deleteTopics({ topics: [topic] }))).toBe(denied);
        });
      }
      await broker.administrate(module, async (admin) => {
        const made = admin.createTopics({ topics: [{ topic: `${PREFIX}of-nobody` }] });
        expect(await refusal(made)).toBe('TOPIC_AUTHORIZATION_FAILED');
      });
      const owners = MODULES.filter((other) => may(other, `${PREFIX}${module}.domain-events`, 'Write'));
      expect(owners).toEqual([module]);
    },
  );
});
