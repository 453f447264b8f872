import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@customer-platform/database';
import { connectEventBus } from '@customer-platform/event-bus';
import {
  newestOfParts,
  readAskedTimeline,
  TIMELINE_TYPE,
  writeTimelineParts,
  type AskedTimeline,
  type TimelinePart,
} from '@customer-platform/http';
import { startTestApp, testDatabase, type TestApp, type TestDatabase } from '@customer-platform/testing';
import { CrmModule } from './crm.module.js';
import { CRM_MIGRATIONS } from './migrations/index.js';
import type { ItemType, Source } from './timeline/fragments.js';

/** A row of a source, as far as the stub looks into it. */
export interface StubItem extends Record<string, unknown> {
  id: string;
  contact_id: string;
  correlation_id: string | null;
}

/** How a stub of a fragment answers. */
export type Behaviour =
  | 'well'
  | 'slowly'
  | 'never'
  | 'hangs up'
  | { status: number; body?: unknown }
  | { text: string }
  | { told: string };

/** A request as a stub received it. */
interface Received {
  readonly path: string;
  /** Types of items that it is answered with. */
  readonly types: readonly ItemType[];
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

/** A contact as core would tell of it. */
export interface StubContact {
  id: string;
  organization_id: string;
  state: 'active' | 'merged' | 'deleted' | 'erased';
  merged_into: string | null;
  version: number;
}

const TYPES: Readonly<Record<ItemType, { source: Source; occurredAt: string }>> = {
  event: { source: 'core', occurredAt: 'occurred_at' },
  consent: { source: 'core', occurredAt: 'occurred_at' },
  transaction: { source: 'loyalty', occurredAt: 'occurred_at' },
  send: { source: 'messaging', occurredAt: 'created_at' },
};

const NOTHING_REFERS: Behaviour = { status: 200, body: { references: [] } };

/** Core, loyalty and messaging as an HTTP server that keeps the contract of a timeline source, or breaks it. */
class StubModules {
  readonly items: Record<ItemType, StubItem[]> = { event: [], consent: [], transaction: [], send: [] };
  readonly behaviour: Record<ItemType, Behaviour> = {
    event: 'well',
    consent: 'well',
    transaction: 'well',
    send: 'well',
  };
  /** Until when the list of a type says that it has removed something. */
  removedUntil: Partial<Record<ItemType, string>> = {};
  /** True where they answer all parts at once, as they do since this release. */
  atOnce = true;
  /** Their answer to several parts at once; their lists answer as they do. */
  together: Behaviour = 'well';
  readonly contacts: StubContact[] = [];
  readonly received: Received[] = [];
  readonly lookups: { ids: string[] }[] = [];
  lookup: Behaviour = 'well';
  /** What messaging answers before a purge. */
  references: Behaviour = NOTHING_REFERS;
  private readonly server: Server;
  private readonly waiting = new Set<ServerResponse>();

  private constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  static async start(): Promise<StubModules> {
    const modules = new StubModules();
    await new Promise<void>((resolve) => modules.server.listen(0, '127.0.0.1', resolve));
    return modules;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  /** Everything as at the start. */
  reset(): void {
    for (const type of Object.keys(TYPES) as ItemType[]) {
      this.items[type].length = 0;
      this.behaviour[type] = 'well';
    }
    this.removedUntil = {};
    this.atOnce = true;
    this.together = 'well';
    this.received.length = 0;
    this.lookups.length = 0;
    this.lookup = 'well';
    this.references = NOTHING_REFERS;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The types that were asked for, once each. */
  askedFor(): ItemType[] {
    return [...new Set(this.received.flatMap(({ types }) => types))].sort();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    if (url.pathname === '/internal/contacts/lookup') {
      const body = JSON.parse(await textOf(request)) as { organization_id: string; ids: string[] };
      this.lookups.push({ ids: body.ids });
      this.answer(response, this.lookup, () => ({
        data: this.contacts.filter(
          (each) => each.organization_id === body.organization_id && body.ids.includes(each.id),
        ),
      }));
      return;
    }
    if (url.pathname.startsWith('/internal/references')) {
      this.answer(response, this.references, () => ({}));
      return;
    }
    const type = typeOf(url.pathname);
    if (!type) {
      send(response, 404, { code: 'route_not_found' });
      return;
    }
    const asked = this.atOnce ? this.askedAtOnce(request, url.pathname) : undefined;
    const types = asked ? typesOf(asked) : [type];
    this.received.push({ path: url.pathname, types, query: url.searchParams, headers: request.headers });
    if (asked && types.length > 1 && this.together !== 'well')
      this.answer(response, this.together, () => null);
    else if (asked) sendParts(response, asked, this.parts(asked, url));
    else this.answer(response, this.behaviour[type], () => this.page(type, url));
  }

  private answer(response: ServerResponse, behaviour: Behaviour, body: () => unknown): void {
    if (behaviour === 'well') send(response, 200, body());
    else if (behaviour === 'slowly') {
      setTimeout(() => {
        send(response, 200, body());
      }, 1_500).unref();
    } else if (behaviour === 'never') this.waiting.add(response);
    else if (behaviour === 'hangs up') response.destroy();
    else if ('told' in behaviour) {
      response.writeHead(200, { 'content-type': TIMELINE_TYPE }).end(behaviour.told);
    } else if ('text' in behaviour) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(behaviour.text);
    } else send(response, behaviour.status, behaviour.body ?? { code: 'x' });
  }

  /** Undefined where one of the parts misbehaves and they do not together: each list is to show how, then. */
  private askedAtOnce(request: IncomingMessage, path: string): AskedTimeline | undefined {
    const asked = readAskedTimeline(request, path, new Set(Object.keys(TYPES)));
    const types = asked ? typesOf(asked) : [];
    const isTogether = types.length > 1 && this.together !== 'well';
    return isTogether || types.every((each) => this.behaviour[each] === 'well') ? asked : undefined;
  }

  private parts(asked: AskedTimeline, url: URL): Record<string, TimelinePart> {
    const { limit } = asked;
    const pages = Object.entries(asked.parts).map(([name, { after }]) => {
      const type = name as ItemType;
      const at = new URL(url);
      at.searchParams.set('limit', String(limit + 1));
      at.searchParams.delete('before_occurred_at');
      at.searchParams.delete('before_id');
      if (after) {
        at.searchParams.set('before_occurred_at', after.occurredAt);
        at.searchParams.set('before_id', after.id);
      }
      return { type, rows: this.page(type, at).data };
    });
    const { occurredAt } = TYPES[pages[0]?.type ?? 'event'];
    const counts = newestOfParts<StubItem>(
      pages.map(({ rows }) => rows),
      (row) => Date.parse(String(row[occurredAt])),
      limit,
    );
    const parts = pages.map(({ type, rows }, part) => {
      const items = rows.slice(0, counts[part]);
      const removedUntil = this.removedUntil[type];
      return [type, { status: 200, items, more: rows.length > items.length, removedUntil }] as const;
    });
    return Object.fromEntries(parts);
  }

  /** What contract.md §3 says of a timeline source. */
  private page(type: ItemType, { pathname, searchParams: query }: URL) {
    const field = TYPES[type].occurredAt;
    const contactId = query.get('contact_id') ?? pathname.split('/')[4] ?? '';
    const limit = Number(query.get('limit'));
    const before = [query.get('before_occurred_at'), query.get('before_id')] as const;
    const until = this.removedUntil[type];
    const rows = this.items[type]
      .filter((item) => item.contact_id === contactId)
      .filter((item) => matches(item, field, query))
      .sort((a, b) => descending(place(a, field), place(b, field)))
      .filter(
        (item) => before[0] === null || descending(`${before[0]} ${before[1] ?? ''}`, place(item, field)) < 0,
      );
    return {
      data: rows.slice(0, limit),
      page: { limit, next_cursor: rows.length > limit ? 'opaque' : null },
      ...(until === undefined ? {} : { gap: { reason: 'retention', until } }),
    };
  }
}

function typesOf({ parts }: AskedTimeline): ItemType[] {
  return Object.keys(parts) as ItemType[];
}

function typeOf(path: string): ItemType | undefined {
  if (path === '/v1/core/events') return 'event';
  if (/^\/v1\/core\/contacts\/[^/]+\/consents$/.test(path)) return 'consent';
  if (path === '/v1/loyalty/transactions') return 'transaction';
  return path === '/v1/messaging/sends' ? 'send' : undefined;
}

function place(item: StubItem, field: string): string {
  return `${String(item[field])} ${item.id}`;
}

function descending(a: string, b: string): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

function matches(item: StubItem, field: string, query: URLSearchParams): boolean {
  const correlation = query.get('correlation_id');
  const time = String(item[field]);
  const bound = (op: string): string | null => query.get(`occurred_at[${op}]`);
  return (
    (correlation === null || item.correlation_id === correlation) &&
    (bound('gt') === null || time > String(bound('gt'))) &&
    (bound('gte') === null || time >= String(bound('gte'))) &&
    (bound('lt') === null || time < String(bound('lt'))) &&
    (bound('lte') === null || time <= String(bound('lte')))
  );
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendParts(
  response: ServerResponse,
  asked: AskedTimeline,
  parts: Record<string, TimelinePart>,
): void {
  if (response.destroyed) return;
  response.writeHead(200, { 'content-type': TIMELINE_TYPE }).end(writeTimelineParts(asked, parts));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** An item of a type as its module would send it. */
export function anItem(
  type: ItemType,
  contactId: string,
  occurredAt: string,
  override: Partial<StubItem> = {},
): StubItem {
  const own: Record<ItemType, Record<string, unknown>> = {
    event: { event: 'invoice_paid', type: 'track', properties: { amount: 12_990 } },
    consent: { purpose: 'marketing', channel: null, status: 'granted' },
    transaction: { kind: 'earn', points: 12, lines: [] },
    send: { channel: 'email', state: 'sent', occurred_at: null },
  };
  const item = { id: newId(), contact_id: contactId, correlation_id: newId(), ...own[type] };
  return { ...item, [TYPES[type].occurredAt]: occurredAt, ...override };
}

/** crm as its own process would be, on a database of its own, with the other modules played. */
export interface TestCrm {
  readonly app: TestApp;
  readonly database: TestDatabase;
  readonly modules: StubModules;
  /** A contact that core knows. */
  aContact(organizationId: string, override?: Partial<StubContact>): StubContact;
  /** Another crm on the same database, with a memory of its own. */
  beside(): Promise<TestApp>;
  close(): Promise<void>;
}

/** Starts crm for a spec file; with events it follows core's on topics of its own. */
export async function startCrm(options: { events?: boolean } = {}): Promise<TestCrm> {
  const database = await testDatabase('crm', CRM_MIGRATIONS);
  const modules = await StubModules.start();
  const { url } = modules;
  const env = {
    CORE_URL: url,
    LOYALTY_URL: url,
    MESSAGING_URL: url,
    CORE_INTERNAL_URL: url,
    MESSAGING_INTERNAL_URL: url,
    PROCESS_ROLE: options.events ? 'all' : 'api',
  };
  const common = { module: 'crm', root: CrmModule, database, env, connect: connectEventBus } as const;
  const app = await startTestApp(common);
  const further: TestApp[] = [];
  return {
    app,
    database,
    modules,
    aContact: (organizationId, override = {}) => {
      const contact: StubContact = {
        id: newId(),
        organization_id: organizationId,
        state: 'active',
        merged_into: null,
        version: 1,
        ...override,
      };
      modules.contacts.push(contact);
      return contact;
    },
    beside: async () => {
      const another = await startTestApp({ ...common, registry: app.registry });
      further.push(another);
      return another;
    },
    close: async () => {
      for (const another of further) await another.close();
      await app.close();
      await modules.close();
      await database.drop();
    },
  };
}
