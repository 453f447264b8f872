import { createHmac } from 'node:crypto';
import { Module, type Type } from '@nestjs/common';
import { AuthorizationModule } from '@customer-platform/authorization';
import {
  DatabaseModule,
  dropReferenceHoldsTable,
  execute,
  referenceHoldsTable,
  ReferencesModule,
  rowSecurity,
  type MigrationClass,
} from '@customer-platform/database';
import {
  ContactFollower,
  ContactReferences,
  ContactRefs,
  contactRefsTable,
  ContactRowsRegistry,
  CoreContacts,
  erasedContactsTable,
} from '../src/index.js';

type Migration = InstanceType<MigrationClass>;
type Runner = Parameters<Migration['up']>[0];

class CreateContactRefs1700000000000 implements Migration {
  async up(runner: Runner): Promise<void> {
    await execute(runner, [
      ...contactRefsTable(),
      ...erasedContactsTable(),
      ...referenceHoldsTable(),
      `CREATE TABLE things (organization_id uuid NOT NULL, id uuid NOT NULL, contact_id uuid NOT NULL,
        origin_contact_id uuid NOT NULL, PRIMARY KEY (organization_id, id))`,
      ...rowSecurity('things'),
    ]);
  }

  async down(runner: Runner): Promise<void> {
    await execute(runner, [...dropReferenceHoldsTable(), 'DROP TABLE things, erased_contacts, contact_refs']);
  }
}

/** The tables of the module. */
export const MIGRATIONS: MigrationClass[] = [CreateContactRefs1700000000000];
const COUNT = 'SELECT count(*)::int AS count FROM things WHERE organization_id = $1 AND contact_id = $2';

/** How a module remembers erased contacts. */
export type Memory = 'ids' | 'hashes';

/** A module that keeps things on contacts. */
export function thingsModule(memory: Memory): Type {
  const hashOf = ({ organizationId, id }: { organizationId: string; id: string }): Buffer =>
    createHmac('sha256', 'a key of tests').update(`${organizationId} ${id}`).digest();
  @Module({
    imports: [
      DatabaseModule.forRoot({ module: 'crm', entities: [], migrations: MIGRATIONS }),
      AuthorizationModule.forRoot({ module: 'crm', calls: ['core'] }),
      ReferencesModule.forRoot({
        module: 'crm',
        references: [{ to: 'core.contacts', resource: 'things', count: COUNT }],
      }),
    ],
    providers: [
      {
        provide: ContactRefs,
        useFactory: () => new ContactRefs(memory === 'hashes' ? { hashOf } : {}),
      },
      ContactFollower,
      ContactReferences,
      ContactRowsRegistry,
      CoreContacts,
    ],
  })
  class ThingsModule {}
  return ThingsModule;
}
