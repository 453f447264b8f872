import { setTimeout as pause } from 'node:timers/promises';
import { DEMO_CUSTOMER, DEMO_ROUTE, DEMO_RULE, DEMO_TEMPLATE } from './demo-content.ts';
import { type DemoUser, ensureDemoUser } from './demo-user.ts';
import { equipOrganization, foundRoot, registerConsole } from './operator.ts';
import { PublicApi } from './public-api.ts';

/** What the demo organization is reached with. */
export interface DemoAccess {
  organization_id: string;
  ingestion_key: string;
  admin_key: string;
}

export interface DemoOrganization extends DemoAccess, Partial<DemoUser> {
  /** The customer of the printed commands. */
  contact_id: string;
}

/** What a start before has left. */
export interface KeptDemo extends DemoAccess, Partial<DemoUser> {
  /** Below which address the Console was registered. */
  console_registered_at?: string;
}

/** Where to seed: identity's database for what only an operator may do, the public API for all else. */
export interface SeedTarget {
  baseUrl: string;
  identityDatabaseUrl: string;
  /** With it, somebody who signs in is made as well, and sent to the Console. */
  people?: { mailUrl: string; consoleUrl: string };
}

const DEMO_SHOP = { name: 'Demo shop', slug: 'demo' };
const VISIBLE_WITHIN_MS = 30_000;

/**
 * Founds the demo organization with its rule, template, route and customer. What is there already stays as it is,
 * changed by a person or not; `kept` keys that are still good stay too.
 */
export async function seedDemo(target: SeedTarget, kept: KeptDemo | undefined): Promise<DemoOrganization> {
  const access = accessOf((await stillGood(target.baseUrl, kept)) ? kept : await issueAccess(target));
  const admin = new PublicApi(target.baseUrl, access.admin_key);
  await ensure(admin, '/v1/loyalty/rules', DEMO_RULE);
  const template = await ensure(admin, '/v1/messaging/templates', DEMO_TEMPLATE);
  await ensure(admin, '/v1/messaging/event-routing', { ...DEMO_ROUTE, template_id: template });
  const [contact, user] = await Promise.all([
    ensureCustomer(new PublicApi(target.baseUrl, access.ingestion_key), admin),
    ensurePeople(target, admin, kept),
  ]);
  return { ...access, ...user, contact_id: contact };
}

/** Of what was kept, only what seeding gives itself. */
function accessOf(access: DemoAccess | undefined): DemoAccess {
  if (!access) throw new Error('There is no access to the demo organization.');
  const { organization_id, ingestion_key, admin_key } = access;
  return { organization_id, ingestion_key, admin_key };
}

async function ensurePeople(
  { people, identityDatabaseUrl }: SeedTarget,
  admin: PublicApi,
  kept: KeptDemo | undefined,
): Promise<(DemoUser & { console_registered_at: string }) | undefined> {
  if (!people) return undefined;
  const { mailUrl, consoleUrl } = people;
  // A second that a start with nothing new is spared.
  if (kept?.console_registered_at !== consoleUrl) await registerConsole(identityDatabaseUrl, consoleUrl);
  return { ...(await ensureDemoUser(admin, mailUrl, kept)), console_registered_at: consoleUrl };
}

async function stillGood(baseUrl: string, access: DemoAccess | undefined): Promise<boolean> {
  if (!access) return false;
  return new PublicApi(baseUrl, access.admin_key).accepted();
}

async function issueAccess({ identityDatabaseUrl }: SeedTarget): Promise<DemoAccess> {
  await foundRoot(identityDatabaseUrl);
  const { organization_id, keys } = await equipOrganization(identityDatabaseUrl, DEMO_SHOP, [
    'ingestion',
    'administrator',
  ]);
  return { organization_id, ingestion_key: keys.ingestion.key, admin_key: keys.administrator.key };
}

/** The id of the resource of this name, made if it is missing. One that a person has deleted is made again. */
async function ensure(
  admin: PublicApi,
  path: string,
  body: { name: string } & Record<string, unknown>,
): Promise<string> {
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { data, page } = await admin.get<NamedPage>(`${path}?limit=200${query}`);
    const found = data.find(({ name }) => name.toLowerCase() === body.name.toLowerCase());
    if (found) return found.id;
    cursor = page.next_cursor;
  } while (cursor !== null);
  return (await admin.post<{ id: string }>(path, body)).id;
}

interface NamedPage {
  data: { id: string; name: string }[];
  page: { next_cursor: string | null };
}

/** Introduces the customer as any source does and waits until the worker has made the contact. */
async function ensureCustomer(ingestion: PublicApi, admin: PublicApi): Promise<string> {
  const { external_id, traits, introducedAt } = DEMO_CUSTOMER;
  const path = `/v1/core/events?external_id=${external_id}&limit=1`;
  const find = async (): Promise<string | null> =>
    (await admin.get<{ data: { contact_id: string | null }[] }>(path)).data[0]?.contact_id ?? null;
  const known = await find();
  if (known !== null) return known;
  // The key makes the same event of every try: one contact, however often this is done.
  await ingestion.post('/v1/core/identify', {
    external_id,
    traits,
    idempotency_key: `introduce-${external_id}`,
    occurred_at: introducedAt,
  });
  const deadline = Date.now() + VISIBLE_WITHIN_MS;
  for (;;) {
    const contact = await find();
    if (contact !== null) return contact;
    if (Date.now() > deadline) throw new Error(`The contact ${external_id} did not appear within 30 s.`);
    await pause(100);
  }
}
