import { Module } from '@nestjs/common';
import { AuthorizationModule } from '@customer-platform/authorization';
import { Problem } from '@customer-platform/problem-json';
import { startTestApp, testDatabase, type TestApp, type TestDatabase } from '@customer-platform/testing';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  Database,
  DatabaseModule,
  dropReferenceHoldsTable,
  execute,
  newId,
  ReferenceHolds,
  referenceHoldsTable,
  ReferencesModule,
  RemoteReferences,
  rowSecurity,
  type HeldResource,
  type MigrationClass,
} from '../src/index.js';

class CreateNotes1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `CREATE TABLE notes (organization_id uuid NOT NULL, id uuid NOT NULL, contact_id uuid NOT NULL,
        PRIMARY KEY (organization_id, id))`,
      ...rowSecurity('notes'),
      ...referenceHoldsTable(),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [...dropReferenceHoldsTable(), 'DROP TABLE notes']);
  }
}

const MIGRATIONS: MigrationClass[] = [CreateNotes1700000000000];
const COUNT = 'SELECT count(*)::int AS count FROM notes WHERE organization_id = $1 AND contact_id = $2';

/** Points to contacts of core. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'crm', entities: [], migrations: MIGRATIONS }),
    AuthorizationModule.forRoot({ module: 'crm' }),
    ReferencesModule.forRoot({
      module: 'crm',
      references: [{ to: 'core.contacts', resource: 'notes', count: COUNT }],
    }),
  ],
})
class CrmLikeModule {}

/** Owns contacts. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'core', entities: [], migrations: MIGRATIONS }),
    AuthorizationModule.forRoot({ module: 'core' }),
    ReferencesModule.forRoot({ module: 'core', ask: ['crm'] }),
  ],
})
class CoreLikeModule {}

let database: TestDatabase;
let crm: TestApp;
let core: TestApp;
let holds: ReferenceHolds;
let remote: RemoteReferences;

beforeAll(async () => {
  database = await testDatabase('references', MIGRATIONS);
  crm = await startTestApp({ module: 'crm', root: CrmLikeModule, database });
  const env = { CRM_INTERNAL_URL: crm.internalUrl };
  core = await startTestApp({ module: 'core', root: CoreLikeModule, database, env });
  holds = crm.app.get(ReferenceHolds);
  remote = core.app.get(RemoteReferences);
});
afterAll(async () => {
  await core.close();
  await crm.close();
  await database.drop();
});

const aContact = (): HeldResource => ({ organizationId: newId(), resource: 'core.contacts', id: newId() });

/** As a service writes a reference: hold asked first, row second. */
function addNote(contact: HeldResource, whileOpen?: () => Promise<void>): Promise<boolean> {
  return crm.app.get(Database).inOrganization(contact, async (tx) => {
    if ((await holds.held(tx, contact.resource, [contact.id])).size > 0) return false;
    await tx.query('INSERT INTO notes VALUES ($1, $2, $3)', [contact.organizationId, newId(), contact.id]);
    await whileOpen?.();
    return true;
  });
}

describe('references across modules', () => {
  it('are counted, and hold nothing back while there are some', async () => {
    const contact = aContact();
    expect(await addNote(contact)).toBe(true);
    const { references } = await remote.hold(contact);
    expect(references).toEqual([{ module: 'crm', resource: 'notes', count: 1 }]);
    expect(await addNote(contact)).toBe(true);
  });

  it('are held back once there are none, for this one id of this one organization, until released', async () => {
    const contact = aContact();
    const hold = await remote.hold(contact);
    expect(hold.references).toEqual([{ module: 'crm', resource: 'notes', count: 0 }]);
    hold.demandStanding();
    expect(await addNote(contact)).toBe(false);
    expect(await addNote({ ...contact, id: newId() })).toBe(true);
    expect(await addNote({ ...contact, organizationId: newId() })).toBe(true);
    await hold.release();
    expect(await addNote(contact)).toBe(true);
  });

  it('are let in again when a hold has ended by itself', async () => {
    const contact = aContact();
    await holds.countAndHold(contact, newId(), 1);
    await database.query('SELECT pg_sleep(0.01)');
    expect(await addNote(contact)).toBe(true);
  });

  it('being written are waited for and counted: none passes a hold', async () => {
    for (let round = 0; round < 20; round += 1) {
      const contact = aContact();
      const [added, hold] = await Promise.all([addNote(contact), remote.hold(contact)]);
      expect(hold.references[0]?.count).toBe(added ? 1 : 0);
    }
  });

  it('of a module that is silent are unknown: 503, and so while a writer takes too long', async () => {
    const contact = aContact();
    const nowhere = await startTestApp({ module: 'core', root: CoreLikeModule, database });
    try {
      const lost = nowhere.app.get(RemoteReferences).hold(contact);
      await expect(lost).rejects.toMatchObject({ code: 'dependency_unavailable' });
    } finally {
      await nowhere.close();
    }
    const refused = addNote(contact, async () => {
      const waiting: unknown = await remote.hold(contact).catch((error: unknown) => error);
      expect(waiting).toBeInstanceOf(Problem);
      expect((waiting as Problem).code).toBe('dependency_unavailable');
    });
    expect(await refused).toBe(true);
  });
});

describe('POST /internal/references', () => {
  it('401 without a service token', async () => {
    const answer = await fetch(`${crm.internalUrl}/internal/references`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(401);
  });
});
