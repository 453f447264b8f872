import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { eventually, expectStatus, InternalPeer, type Caller } from '@customer-platform/testing';
import {
  aContact,
  ALL_PERMISSIONS,
  messagingWorld,
  template,
  toldDevices,
  type MessagingWorld,
  type WorldOptions,
} from '../../messaging.fixture.js';
import type { CampaignDto } from './campaign.dto.js';
import type { CampaignAudience } from './campaign.js';

/** The collection. */
export const CAMPAIGNS = '/v1/messaging/campaigns';

/** A contact as core tells of it when it is asked. */
export type StoredContact = Omit<ReturnType<typeof aContact>, 'state'> & {
  /** Anything else cannot be read. */
  state: 'active' | 'deleted' | 'erased' | 'merged' | 'odd';
  merged_into: string | null;
};

interface Stored {
  readonly organizationId: string;
  readonly type: CampaignAudience['type'];
  members: string[];
  deleted: boolean;
  ready: boolean;
  /** After so many pages it is deleted. */
  pagesLeft: number;
}

interface Asked {
  organization_id: string;
  id: string;
  after_id?: string;
  limit: number;
}

/** Messaging, in this process or in one of its own. */
export type RunningMessaging = Pick<MessagingWorld, 'database' | 'mail' | 'organization' | 'close'>;

/** Messaging between a core and a crm that know segments, lists and contacts. */
export class CampaignWorld<M extends RunningMessaging = MessagingWorld> {
  readonly audiences = new Map<string, Stored>();
  readonly contacts = new Map<string, StoredContact>();
  /** Members of a page, however many are asked for. */
  pageSize = 3;
  /** Done before core or crm answers what an audience is. */
  beforeAudience: () => Promise<unknown> = () => Promise.resolve();
  /** Done before core or crm tells members of an audience. */
  beforeMembers: () => Promise<unknown> = () => Promise.resolve();
  /** Done before core answers what contacts there are. */
  beforeLookUp: () => Promise<unknown> = () => Promise.resolve();
  /** The device that core knows of a contact. */
  deviceOf: (contactId: string) => string | null = () => null;

  private constructor(
    readonly messaging: M,
    readonly core: InternalPeer,
    readonly crm: InternalPeer,
    known: Pick<CampaignWorld, 'audiences' | 'contacts'>,
  ) {
    this.audiences = known.audiences;
    this.contacts = known.contacts;
  }

  static start(options: WorldOptions = { consume: false }): Promise<CampaignWorld> {
    return CampaignWorld.around((env) => messagingWorld({ ...options, env: { ...env, ...options.env } }));
  }

  /** Starts messaging by what is given, which is told where core and crm are. */
  static async around<M extends RunningMessaging>(
    start: (env: Record<string, string>) => Promise<M>,
  ): Promise<CampaignWorld<M>> {
    const audiences = new Map<string, Stored>();
    const contacts = new Map<string, StoredContact>();
    const found = (type: CampaignAudience['type'], body: unknown): Stored | undefined => {
      const { organization_id, id } = body as Asked;
      const stored = audiences.get(id);
      return stored?.type === type && stored.organizationId === organization_id ? stored : undefined;
    };
    const routes = (type: CampaignAudience['type']) => ({
      'POST /internal/audience': async (body: unknown) => {
        await world.beforeAudience();
        const stored = found(type, body);
        return (
          stored && { deleted: stored.deleted, ready: stored.ready, member_count: stored.members.length }
        );
      },
      'POST /internal/audience/members': async (body: unknown) => {
        await world.beforeMembers();
        const stored = found(type, body);
        if (stored && stored.pagesLeft === 0) stored.deleted = true;
        if (stored) stored.pagesLeft -= 1;
        return stored && !stored.deleted ? pageOf(stored, body as Asked, world.pageSize) : undefined;
      },
    });
    const core = await InternalPeer.start({
      ...routes('segment'),
      'POST /internal/contacts/lookup': async (body) => {
        await world.beforeLookUp();
        const { ids } = body as { ids: string[] };
        return { data: ids.flatMap((id) => lookedUp(contacts.get(id))) };
      },
      'POST /internal/contacts/devices': (body) => toldDevices(body, (id) => world.deviceOf(id)),
    });
    const crm = await InternalPeer.start(routes('list'));
    const messaging = await start({ CORE_INTERNAL_URL: core.url, CRM_INTERNAL_URL: crm.url });
    const world: CampaignWorld<M> = new CampaignWorld(messaging, core, crm, { audiences, contacts });
    return world;
  }

  async close(): Promise<void> {
    await this.messaging.close();
    await Promise.all([this.core.close(), this.crm.close()]);
  }

  organization(permissions = [...ALL_PERMISSIONS]): CampaignShop {
    return new CampaignShop(this, this.messaging.organization(permissions));
  }

  /** Contacts that core knows, and messaging does not yet. */
  people(count: number, overrides: Record<string, unknown> = {}): StoredContact[] {
    return Array.from({ length: count }, () => {
      const contact = { ...aContact(overrides), merged_into: null } as StoredContact;
      this.contacts.set(contact.id, contact);
      return contact;
    });
  }

  audience(
    organizationId: string,
    members: readonly { id: string }[],
    type: CampaignAudience['type'] = 'segment',
  ): CampaignAudience {
    const id = newId();
    const ids = members.map((member) => member.id);
    this.audiences.set(id, {
      organizationId,
      type,
      members: ids,
      deleted: false,
      ready: true,
      pagesLeft: Infinity,
    });
    return { type, id };
  }

  /** What a recount of the rows gives, to be held against the counts that are kept. */
  async recount(runId: string): Promise<Record<string, number>> {
    const rows = await this.messaging.database.query<{ kind: string; count: number }>(
      `SELECT state AS kind, count(*)::int AS count FROM sends WHERE run_id = $1 GROUP BY state
       UNION ALL
       SELECT state, count(*)::int FROM campaign_members WHERE run_id = $1 AND state <> 'accepted' GROUP BY state
       UNION ALL
       SELECT 'audience', count(*)::int FROM campaign_members WHERE run_id = $1 HAVING count(*) > 0`,
      [runId],
    );
    return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
  }
}

/** An organization with campaigns. */
export class CampaignShop {
  readonly id: string;
  readonly api: Caller;

  constructor(
    private readonly world: CampaignWorld<RunningMessaging>,
    { id, api }: { id: string; api: Caller },
  ) {
    this.id = id;
    this.api = api;
  }

  /** A campaign to these people, or of these fields. */
  async campaign(
    people: readonly { id: string }[],
    overrides: Record<string, unknown> = {},
  ): Promise<CampaignDto> {
    const answer = await this.api.post<CampaignDto>(CAMPAIGNS, {
      ...(await aCampaign(this.api, this.world.audience(this.id, people))),
      ...overrides,
    });
    expectStatus(answer, 201);
    return answer.body;
  }

  async run({ id }: { id: string }): Promise<string> {
    const answer = await this.api.post<{ run_id: string }>(`${CAMPAIGNS}/${id}/run`);
    expectStatus(answer, 202);
    return answer.body.run_id;
  }

  async shown({ id }: { id: string }): Promise<CampaignDto> {
    const answer = await this.api.get<CampaignDto>(`${CAMPAIGNS}/${id}`);
    expectStatus(answer, 200);
    return answer.body;
  }

  patch({ id }: { id: string }, body: object) {
    return this.api.patch<CampaignDto>(`${CAMPAIGNS}/${id}`, body);
  }

  /** Waits until the campaign is as it should be. */
  async until(campaign: { id: string }, holds: (shown: CampaignDto) => boolean): Promise<CampaignDto> {
    return eventually(
      async () => {
        const shown = await this.shown(campaign);
        if (!holds(shown)) throw new Error(JSON.stringify({ state: shown.state, run: shown.last_run }));
        return shown;
      },
      { within: 60_000 },
    );
  }

  /** Waits until nothing says any more to whom a run went. */
  forgotten(runId: string): Promise<void> {
    return eventually(async () => {
      const rows = await this.world.messaging.database.query(
        `SELECT 1 FROM campaign_runs WHERE id = $1 UNION ALL SELECT 1 FROM campaign_members WHERE run_id = $1
          UNION ALL SELECT 1 FROM campaign_counts WHERE run_id = $1`,
        [runId],
      );
      if (rows.length > 0) throw new Error(`${String(rows.length)} rows are left`);
    });
  }

  completed(campaign: { id: string }): Promise<CampaignDto> {
    return this.until(campaign, ({ state }) => state === 'completed');
  }
}

/** A body of `POST /v1/messaging/campaigns` with a template of its own. */
export async function aCampaign(api: Caller, audience: CampaignAudience): Promise<Record<string, unknown>> {
  return { name: `Campaign ${randomUUID()}`, channel: 'email', template_id: await template(api), audience };
}

/** The counts that are not zero. */
export function counted({ last_run: run }: CampaignDto): Record<string, number> {
  return Object.fromEntries(Object.entries(run?.counts ?? {}).filter(([, count]) => count !== 0));
}

/** Whether every member of the audience stands somewhere, and at one place. */
export function addsUp({ last_run: run }: CampaignDto): boolean {
  const { audience, ...others } = run?.counts ?? { audience: 0 };
  return audience === Object.values(others).reduce((sum, count) => sum + count, 0);
}

function pageOf({ members }: Stored, { after_id }: Asked, size: number) {
  const from = after_id === undefined ? 0 : members.indexOf(after_id) + 1;
  const page = members.slice(from, from + size);
  const last = page.at(-1);
  const next =
    last !== undefined && from + size < members.length ? { at: '2026-01-01T00:00:00.000Z', id: last } : null;
  return { contact_ids: page, next };
}

function lookedUp(contact: StoredContact | undefined) {
  if (!contact) return [];
  const { id, state, merged_into } = contact;
  const has = state === 'active' || state === 'deleted';
  return [{ id, state, merged_into, version: 1, contact: has ? contact : null }];
}
