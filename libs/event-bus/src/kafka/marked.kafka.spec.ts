import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { Database, Installation, OtherInstallation } from '@customer-platform/database';
import { aBus, aDatabase, anIsolatedKafka, eventually } from '../../test/a-bus.js';
import { POLICY_VIOLATION, refusing } from '../../test/refusing-admin.js';
import { KafkaClient } from './kafka.client.js';
import { MarkedKafka } from './marked.kafka.js';
import { Topics } from './topics.js';

const PRODUCTION = {
  PLATFORM_MODE: 'production',
  KAFKA_ALLOW_WEAK_REPLICATION: 'true',
  KAFKA_ALLOW_UNAUTHENTICATED: 'true',
};

let databases: Awaited<ReturnType<typeof aDatabase>>[];
beforeEach(() => {
  databases = [];
  anIsolatedKafka();
  Object.assign(process.env, PRODUCTION);
});
afterEach(async () => {
  process.env['PLATFORM_MODE'] = 'local';
  for (const allowed of ['WEAK_REPLICATION', 'UNAUTHENTICATED'])
    Reflect.deleteProperty(process.env, `KAFKA_ALLOW_${allowed}`);
  for (const database of databases) await database.drop();
});

async function anInstallation(): Promise<void> {
  databases.push(await aDatabase());
}

async function started<T>(work: (app: INestApplication) => Promise<T>): Promise<T> {
  const app = await aBus([], { role: 'api' });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

const marks = (app: INestApplication): Promise<string[]> =>
  app.get(Topics).withAdmin((admin) => new MarkedKafka(app.get(KafkaClient), admin, 'core').marks());

const adopt = async (app: INestApplication): Promise<string> => (await adopted(app)).id;

/** On brokers that refuse what this says. */
function adopted(app: INestApplication, refuses?: (said: string) => boolean) {
  return app.get(Topics).withAdmin((admin) => {
    const asked = refuses ? refusing(admin, POLICY_VIOLATION, refuses) : admin;
    return app.get(Installation).adopt([new MarkedKafka(app.get(KafkaClient), asked, 'core')]);
  });
}

const sql = (app: INestApplication, text: string): Promise<unknown> =>
  app.get(Database).acrossOrganizations((tx) => tx.query(text));

describe('an installation and its Kafka', () => {
  it('is marked by the first start, two at once included, and by no later one', async () => {
    await anInstallation();
    const seen = await started((first) =>
      started(async (second) => [
        ...(await marks(first)),
        await first.get(Installation).id(),
        await second.get(Installation).id(),
      ]),
    );
    expect(new Set(seen).size).toBe(1);
    expect(await started(marks)).toEqual([seen[0]]);
  });

  it('refuses the start of a database of another, in one sentence with both ids, and lets it in once it was adopted', async () => {
    await anInstallation();
    const former = await started((app) => app.get(Installation).id());
    await anInstallation();
    await expect(aBus([], { role: 'all' })).rejects.toThrow(
      new RegExp(
        `^Kafka \\(KAFKA_BROKERS, KAFKA_TOPIC_PREFIX\\) is used by the installation ${former}, and this database ` +
          'is of the installation [0-9a-f-]{36}\\. If this database has taken .* "platform installation adopt"; .* renew"',
      ),
    );
    process.env['PLATFORM_MODE'] = 'local';
    const id = await started(adopt);
    process.env['PLATFORM_MODE'] = 'production';
    expect(await started(marks)).toEqual([id]);
    expect(id).not.toBe(former);
  });

  it('neither reads nor writes topics of another that it finds out about after its start', async () => {
    await anInstallation();
    process.env['PLATFORM_MODE'] = 'local';
    await started(async (app) => {
      process.env['PLATFORM_MODE'] = 'production';
      const topics = new Topics(app.get(KafkaClient), { module: 'core' }, app.get(Installation));
      await topics.withAdmin((admin) =>
        new MarkedKafka(app.get(KafkaClient), admin, 'core').mark(randomUUID()),
      );
      await expect(topics.ensure(['core.domain-events'])).rejects.toThrow(OtherInstallation);
    });
  });

  it('refuses another Kafka than the one it has marked, until that is adopted', async () => {
    await anInstallation();
    const id = await started((app) => app.get(Installation).id());
    const known = { ...process.env };
    anIsolatedKafka();
    Object.assign(process.env, PRODUCTION);
    await expect(aBus([], { role: 'api' })).rejects.toThrow(
      `Kafka is not the one that the installation ${id} has marked`,
    );
    process.env['PLATFORM_MODE'] = 'local';
    await started(adopt);
    process.env['PLATFORM_MODE'] = 'production';
    expect(await started(marks)).toEqual([id]);
    process.env['KAFKA_TOPIC_PREFIX'] = known['KAFKA_TOPIC_PREFIX'];
    expect(await started(marks)).toEqual([id]);
  });

  it('refuses a database that was read into another PostgreSQL server, until it is adopted or renewed', async () => {
    await anInstallation();
    await started((app) => sql(app, `UPDATE installation SET postgres = '7000000000000000001'`));
    await expect(aBus([], { role: 'api' })).rejects.toThrow(
      /^This database of the installation [0-9a-f-]{36} was used on the PostgreSQL server 7000000000000000001, and is on \d+ now/,
    );
    process.env['PLATFORM_MODE'] = 'local';
    await started(adopt);
    process.env['PLATFORM_MODE'] = 'production';
    await started(marks);
    const { former, id } = await started((app) => app.get(Installation).renew());
    expect(id).not.toBe(former);
    // A copy that is still led to what the original uses.
    await expect(aBus([], { role: 'api' })).rejects.toThrow(`is used by the installation ${former}`);
  });

  it('is adopted where the brokers let no mark be made and there is none, and starts there', async () => {
    await anInstallation();
    process.env['PLATFORM_MODE'] = 'local';
    const refusesAll = (): boolean => true;
    const { id, unmarked } = await started((app) => adopted(app, refusesAll));
    expect(unmarked).toEqual(['Kafka']);
    process.env['PLATFORM_MODE'] = 'production';
    // It is asked for a mark as a new one is, not taken for one that has lost it.
    expect(await started(marks)).toEqual([id]);
    await expect(started((app) => adopted(app, refusesAll))).resolves.toEqual({ id, unmarked: [] });
  });

  it.each(['createTopics', 'deleteTopics'])(
    'says what to do where %s is refused and another has its mark, and goes on once that is done',
    async (refused) => {
      await anInstallation();
      const former = await started((app) => app.get(Installation).id());
      await anInstallation();
      process.env['PLATFORM_MODE'] = 'local';
      const id = await started(async (app) => {
        const prefix = app.get(KafkaClient).named('core.installation.');
        const own = await app.get(Installation).id();
        await expect(adopted(app, (said) => said.startsWith(refused))).rejects.toThrow(
          new RegExp(
            `^The brokers do not let this client make the topic ${prefix}${own} or delete ${prefix}${former}\\. Have`,
          ),
        );
        expect(await marks(app)).toContain(former);
        // As whoever runs the brokers does it.
        await app.get(Topics).withAdmin(async (admin) => {
          await admin.createTopics({ topics: [{ topic: `${prefix}${own}`, numPartitions: 1 }] });
          await admin.deleteTopics({ topics: [`${prefix}${former}`] });
        });
        // What is deleted is listed for a moment still.
        await eventually(async () => expect(await marks(app)).toEqual([own]));
        expect(await adopted(app, () => true)).toEqual({ id: own, unmarked: [] });
        return own;
      });
      process.env['PLATFORM_MODE'] = 'production';
      expect(await started(marks)).toEqual([id]);
    },
  );

  it('asks nothing of a database restored in place to an earlier moment', async () => {
    await anInstallation();
    const id = await started(async (app) => {
      await sql(app, 'UPDATE installation SET postgres = NULL, kafka = false');
      return app.get(Installation).id();
    });
    expect(await started(marks)).toEqual([id]);
  });

  it('compares nothing in local mode, whose servers are thrown away one by one', async () => {
    process.env['PLATFORM_MODE'] = 'local';
    await anInstallation();
    await started((app) => sql(app, `UPDATE installation SET postgres = '1', kafka = true`));
    expect(await started(marks)).toEqual([]);
  });

  it('starts before its migrations, which make the table, and is not refused for that', async () => {
    await anInstallation();
    const admin = await databases[0]?.admin();
    await admin?.query('DROP TABLE installation');
    await admin?.end();
    await started((app) =>
      expect(app.get(Topics).ensure(['core.domain-events'])).rejects.toThrow(/installation/),
    );
  });
});
