import { setTimeout as pause } from 'node:timers/promises';
import type { BodyOf, Client } from '@customer-platform/client';
import { publicApi } from '@customer-platform/kit/public-api.ts';
import { DEMO_CUSTOMER, DEMO_ROUTE, DEMO_RULE, DEMO_TEMPLATE } from './demo-content.ts';
import { type DemoUser, ensureDemoUser } from './demo-user.ts';
import { equipOrganization, foundRoot, registerConsole } from './operator.ts';

/** What the demo organization is reached with. */
interface DemoAccess {
  organization_id: string;
  ingestion_key: string;
  admin_key: string;
}

interface DemoOrganization extends DemoAccess, Partial<DemoUser> {
  /** The customer of the printed commands. */
  contact_id: string;
}

/** What a start before has left. */
export interface KeptDemo extends DemoAccess, Partial<DemoUser> {
  /** Below which address the Console was registered. */
  console_registered_at?: string;
}

/** Where to seed: identity's database for what only an operator may do, the public API for all else. */
interface SeedTarget {
  baseUrl: string;
  identityDatabaseUrl: string;
  /** With it, somebody who signs in is made as well, and sent to the Console. */
  people?: { mailUrl: string; consoleUrl: string };
}

const REFUSALS = new Set([401, 403]);
const DEMO_SHOP = { name: 'Demo shop', slug: 'demo' };
const VISIBLE_WITHIN_MS = 30_000;
/** A platform that has just started may be too busy to answer at first: it is asked again, soon. */
const PATIENCE = { timeoutMs: 15_000, retry: { attempts: Infinity, withinMs: 30_000, longestWaitMs: 1_000 } };

/**
 * Founds the demo organization with its rule, template, route and customer. What is there already stays as it is,
 * changed by a person or not; `kept` keys that are still good stay too.
 */
export async function seedDemo(target: SeedTarget, kept: KeptDemo | undefined): Promise<DemoOrganization> {
  const access = accessOf((await stillGood(target.baseUrl, kept)) ? kept : await issueAccess(target));
  const admin = await publicApi(target.baseUrl, access.admin_key, PATIENCE);
  const ingestion = await publicApi(target.baseUrl, access.ingestion_key, PATIENCE);
  await ensure(admin, '/v1/loyalty/rules', DEMO_RULE);
  const template = await ensure(admin, '/v1/messaging/templates', DEMO_TEMPLATE);
  await ensure(admin, '/v1/messaging/event-routing', { ...DEMO_ROUTE, template_id: template });
  const [contact, user] = await Promise.all([
    ensureCustomer(ingestion, admin),
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
  { people, identityDatabaseUrl, baseUrl }: SeedTarget,
  admin: Client,
  kept: KeptDemo | undefined,
): Promise<(DemoUser & { console_registered_at: string }) | undefined> {
  if (!people) return undefined;
  const { mailUrl, consoleUrl } = people;
  // A second that a start with nothing new is spared.
  if (kept?.console_registered_at !== consoleUrl) await registerConsole(identityDatabaseUrl, consoleUrl);
  const anybody = await publicApi(baseUrl, undefined, PATIENCE);
  const user = await ensureDemoUser({ admin, anybody, mailUrl }, kept);
  return { ...user, console_registered_at: consoleUrl };
}

/**
 * Whether the keys are good, by a cheap read; what an old data folder's demo.json may no longer be. Only a refusal says
 * that they are not: a platform that is too busy to say must not get a good key replaced.
 */
export async function stillGood(baseUrl: string, access: DemoAccess | undefined): Promise<boolean> {
  if (!access) return false;
  const { ProblemError } = await import('@customer-platform/client');
  const admin = await publicApi(baseUrl, access.admin_key, PATIENCE);
  return admin.GET('/v1/core/events', { params: { query: { limit: 1 } } }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ProblemError && REFUSALS.has(error.status)) return false;
      throw error;
    },
  );
}

async function issueAccess({ identityDatabaseUrl }: SeedTarget): Promise<DemoAccess> {
  await foundRoot(identityDatabaseUrl);
  const { organization_id, keys } = await equipOrganization(identityDatabaseUrl, DEMO_SHOP, [
    'ingestion',
    'administrator',
  ]);
  return { organization_id, ingestion_key: keys.ingestion.key, admin_key: keys.administrator.key };
}

/** The lists that the demo has something of. */
type Named = '/v1/loyalty/rules' | '/v1/messaging/templates' | '/v1/messaging/event-routing';

/** The id of the resource of this name, made if it is missing. One that a person has deleted is made again. */
async function ensure(
  admin: Client,
  path: Named,
  body: BodyOf<'post', Named> & { name: string },
): Promise<string> {
  const wanted = body.name.toLowerCase();
  for await (const { id, name } of admin.items(path, { params: { query: { limit: 200 } } }))
    if (name.toLowerCase() === wanted) return id;
  return (await admin.POST(path, { body })).data.id;
}

/** Introduces the customer as any source does and waits until the worker has made the contact. */
async function ensureCustomer(ingestion: Client, admin: Client): Promise<string> {
  const { external_id, traits, introducedAt } = DEMO_CUSTOMER;
  const params = { query: { external_id, limit: 1 } };
  const find = async (): Promise<string | null> =>
    (await admin.GET('/v1/core/events', { params })).data.data[0]?.contact_id ?? null;
  const known = await find();
  if (known !== null) return known;
  // The key makes the same event of every try: one contact, however often this is done.
  await ingestion.POST('/v1/core/identify', {
    body: {
      external_id,
      traits,
      idempotency_key: `introduce-${external_id}`,
      occurred_at: introducedAt,
    },
  });
  const deadline = Date.now() + VISIBLE_WITHIN_MS;
  for (;;) {
    const contact = await find();
    if (contact !== null) return contact;
    if (Date.now() > deadline) throw new Error(`The contact ${external_id} did not appear within 30 s.`);
    await pause(100);
  }
}
