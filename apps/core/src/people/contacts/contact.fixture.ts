import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import { expectStatus, InternalPeer, type Caller, type InternalAnswer } from '@customer-platform/testing';
import { processing, startCore, type TestCore } from '../../core.fixture.js';
import type { ContactDto } from './contact.dto.js';

/** Core with the modules that may point to its contacts, as far as a purge asks them. */
export interface CoreWithPeers {
  readonly core: TestCore;
  readonly peers: Readonly<Record<'crm' | 'loyalty' | 'messaging', InternalPeer>>;
  /** What a module answers of references from now on; none unless told. */
  count(module: 'crm' | 'loyalty' | 'messaging', resource: string, count: number): void;
  close(): Promise<void>;
}

/** What a module answers beyond what a purge asks, by its name. */
type FurtherAnswers = (module: 'crm' | 'loyalty' | 'messaging') => Record<string, InternalAnswer>;

/** Starts core between modules that know of no reference. */
export async function startCoreWithPeers(
  further: FurtherAnswers = () => ({}),
  env: Record<string, string> = {},
): Promise<CoreWithPeers> {
  const counts = new Map<string, { resource: string; count: number }>();
  const peer = (module: 'crm' | 'loyalty' | 'messaging') =>
    InternalPeer.start({
      ...further(module),
      'POST /internal/references': () => ({ references: counts.has(module) ? [counts.get(module)] : [] }),
      'POST /internal/references/release': () => ({}),
    });
  const peers = {
    crm: await peer('crm'),
    loyalty: await peer('loyalty'),
    messaging: await peer('messaging'),
  };
  const core = await startCore({
    ...env,
    CRM_INTERNAL_URL: peers.crm.url,
    LOYALTY_INTERNAL_URL: peers.loyalty.url,
    MESSAGING_INTERNAL_URL: peers.messaging.url,
  });
  return {
    core,
    peers,
    count: (module, resource, count) => counts.set(module, { resource, count }),
    close: async () => {
      await core.close();
      await Promise.all(Object.values(peers).map((each) => each.close()));
    },
  };
}

/** A contact's body that is right; every call has another external id. */
export function aContact(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return { external_id: `person-${newId()}`, first_name: 'Ana', country: 'CL', ...overrides };
}

/** The collection. */
export const CONTACTS = '/v1/core/contacts';

/** Paths of one contact. */
export const at = ({ id }: { id: string }, suffix = ''): string => `${CONTACTS}/${id}${suffix}`;

/** What a spec of contacts does all the time, in its running core. */
export class ContactWorld {
  private constructor(private readonly running: CoreWithPeers) {}

  /** Resolves when the worker processes too. */
  static async start(further?: FurtherAnswers): Promise<ContactWorld> {
    const running = await startCoreWithPeers(further);
    await processing(running.core);
    return new ContactWorld(running);
  }

  get core(): TestCore {
    return this.running.core;
  }

  get peers(): CoreWithPeers['peers'] {
    return this.running.peers;
  }

  readonly count: CoreWithPeers['count'] = (...told) => this.running.count(...told);

  /** A caller of a new organization who holds these permissions, all of core unless told. */
  anOrganization(permissions?: readonly Permission[]): { id: string; caller: Caller } {
    return this.core.anOrganization(permissions);
  }

  async created(caller: Caller, overrides: Record<string, unknown> = {}): Promise<ContactDto> {
    const answer = await caller.post<ContactDto>(CONTACTS, aContact(overrides));
    expectStatus(answer, 201);
    return answer.body;
  }

  query(sql: string, values: unknown[]): Promise<Record<string, unknown>[]> {
    return this.core.database.query<Record<string, unknown>>(sql, values);
  }

  /** `type:normal value` of what the contact is found by. */
  async identitiesOf(contact: { id: string }): Promise<string[]> {
    const rows = await this.query(
      `SELECT type || ':' || normal_value AS identity FROM identities
        WHERE contact_id = $1 AND yielded_at IS NULL ORDER BY type, normal_value`,
      [contact.id],
    );
    return rows.map(({ identity }) => identity as string);
  }

  close(): Promise<void> {
    return this.running.close();
  }
}
