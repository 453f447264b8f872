import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Database, newId, type Transaction } from '@customer-platform/database';
import {
  contactChange,
  domainEvent,
  startTestApp,
  testDatabase,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import {
  ContactFollower,
  contactTable,
  ContactReferences,
  ContactRefs,
  ContactRowsRegistry,
} from '../src/index.js';
import { MIGRATIONS, thingsModule, type Memory } from './things.module.js';

/** How core answers a look-up. */
export type Behaviour =
  'well' | 'slowly' | 'hangs up' | { status: number } | { text: string } | { oddly: readonly unknown[] };

/** A contact as core would tell of it. */
interface CoreContact {
  id: string;
  organization_id: string;
  state: 'active' | 'merged' | 'deleted' | 'erased';
  merged_into: string | null;
  version: number;
}

/** Core's look-up of contacts, which keeps its contract or breaks it. */
class PlayedCore {
  readonly contacts: CoreContact[] = [];
  /** The ids of each look-up. */
  readonly lookups: string[][] = [];
  behaviour: Behaviour = 'well';
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  static async start(): Promise<PlayedCore> {
    const core = new PlayedCore();
    await new Promise<void>((resolve) => core.server.listen(0, '127.0.0.1', resolve));
    return core;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  reset(): void {
    this.lookups.length = 0;
    this.behaviour = 'well';
  }

  aContact(organizationId: string, override: Partial<CoreContact> = {}): CoreContact {
    const usual = { state: 'active', merged_into: null, version: 1 } as const;
    const contact = { id: newId(), organization_id: organizationId, ...usual, ...override };
    this.contacts.push(contact);
    return contact;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as { organization_id: string; ids: string[] };
    this.lookups.push(asked.ids);
    const { behaviour } = this;
    const data = this.contacts.filter(
      (each) => each.organization_id === asked.organization_id && asked.ids.includes(each.id),
    );
    const send = (status: number, text: string): void => {
      if (!response.destroyed) response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    };
    if (behaviour === 'hangs up') response.destroy();
    else if (behaviour === 'slowly') setTimeout(() => send(200, JSON.stringify({ data })), 1_500).unref();
    else if (behaviour === 'well') send(200, JSON.stringify({ data }));
    else if ('text' in behaviour) send(200, behaviour.text);
    else if ('oddly' in behaviour) send(200, JSON.stringify({ data: [...behaviour.oddly, ...data] }));
    else send(behaviour.status, '{"code":"x"}');
  }
}

/** The module with its database and the core it asks. */
export interface Things {
  readonly app: TestApp;
  readonly database: TestDatabase;
  readonly core: PlayedCore;
  readonly refs: ContactRefs;
  readonly follower: ContactFollower;
  readonly references: ContactReferences;
  in<T>(organizationId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** What is known of the organization's contacts, by their ids. */
  known(organizationId: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Starts the module for a spec file, on a database of its own. */
export async function startThings(memory: Memory): Promise<Things> {
  const database = await testDatabase('contact_refs', MIGRATIONS);
  const core = await PlayedCore.start();
  const env = { CORE_INTERNAL_URL: core.url };
  const app = await startTestApp({ module: 'crm', root: thingsModule(memory), database, env });
  app.app.get(ContactRowsRegistry).add(contactTable('things'));
  return {
    app,
    database,
    core,
    refs: app.app.get(ContactRefs),
    follower: app.app.get(ContactFollower),
    references: app.app.get(ContactReferences),
    in: (organizationId, work) => app.app.get(Database).inOrganization({ organizationId }, work),
    known: (organizationId) =>
      database.query(
        'SELECT id, state, merged_into, version::int FROM contact_refs WHERE organization_id = $1 ORDER BY id',
        [organizationId],
      ),
    close: async () => {
      await app.close();
      await core.close();
      await database.drop();
    },
  };
}

/** What core tells of a contact that changed. */
export function changed(
  organizationId: string,
  id: string,
  version: number,
  state: 'active' | 'deleted' = 'active',
) {
  const type = state === 'deleted' ? 'core.contact.deleted.v1' : 'core.contact.updated.v1';
  return domainEvent(type, organizationId, contactChange(id, version, state));
}

/** What core tells of a contact that is gone. */
export function ended(organizationId: string, id: string, version: number, verb: 'purged' | 'erased') {
  const data = { contact_id: id, version, changed_fields: [], contact: null };
  return domainEvent(`core.contact.${verb}.v1` as const, organizationId, data);
}

/** What core tells of two contacts that become one, or two again. */
export function merged(
  organizationId: string,
  pair: { survivor: string; merged: string; version: number },
  verb: 'merged' | 'unmerged' = 'merged',
) {
  return domainEvent(`core.contact.${verb}.v1` as const, organizationId, {
    merge_id: newId(),
    survivor_id: pair.survivor,
    merged_id: pair.merged,
    survivor_version: pair.version,
    merged_version: pair.version,
  });
}
