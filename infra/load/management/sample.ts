import type { Client } from '@customer-platform/client';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf, idOfMade, orRefusal } from '@customer-platform/kit/public-api.ts';
import { SEGMENT_NAME, type Sample } from './calls.js';

const DAY_MS = 86_400_000;
const DEEP_PAGE = 2_000;
const PAGE = 50;
const LARGEST_PAGE = 200;
const SEGMENT = 'Load: customers of the plan pro';
const SEGMENT_READY_WITHIN_MS = 180_000;
const LETTER_WITHIN_MS = 30_000;
/** An event whose points no number can carry, so that its letter is pending again after each replay. */
const BEYOND = 'load_beyond_points';

/** Collects what the calls need, and makes what is missing: a contact with a national id, a segment. */
export async function takeSample(platform: Platform, say: (line: string) => void): Promise<Sample> {
  const admin = await adminOf(platform);
  const contacts = await reachableContacts(admin);
  const read = await admin.GET('/v1/core/events', { params: { query: { limit: LARGEST_PAGE } } });
  const events = read.data.data;
  const [newest] = events;
  if (contacts.length === 0 || newest === undefined)
    throw new Error('There is nothing to read yet: run "npm run load -- seed" first.');
  say(`  walking to page ${DEEP_PAGE.toLocaleString('en')} of contacts and of events …`);
  return {
    routes: await routesOf(admin),
    contacts,
    events,
    identified: await identifiedContact(admin),
    segment: await readySegment(admin, say),
    deadLetter: await lastingLetter(admin),
    deepContacts: await deepPage(admin, '/v1/core/contacts'),
    deepEvents: await deepPage(admin, '/v1/core/events'),
    recent: new Date(Date.parse(newest.occurred_at) - DAY_MS).toISOString(),
    longAgo: new Date(Date.now() - 398 * DAY_MS).toISOString().slice(0, 10),
  };
}

/** Contacts that can be looked up by each of their identifiers. */
async function reachableContacts(admin: Client): Promise<Sample['contacts']> {
  const known = { 'external_id[is_null]': false, 'email[is_null]': false, 'phone[is_null]': false };
  const query = { limit: LARGEST_PAGE, ...known };
  const { data: contacts } = await admin.GET('/v1/core/contacts', { params: { query } });
  return contacts.data as Sample['contacts'];
}

async function routesOf(admin: Client): Promise<string[]> {
  const { data } = await admin.GET('/v1/openapi.json');
  const { paths } = data as unknown as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** A cursor is bound to filters and order, not to the limit: the way there is walked in the longest steps. */
async function deepPage(admin: Client, path: '/v1/core/contacts' | '/v1/core/events'): Promise<string> {
  let rows = 0;
  for await (const { page } of admin.pages(path, { params: { query: { limit: LARGEST_PAGE } } })) {
    if (page.next_cursor === null) break;
    rows += LARGEST_PAGE;
    if (rows >= (DEEP_PAGE - 1) * PAGE)
      return `${path}?limit=${PAGE}&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  throw new Error(`${path} has no page ${DEEP_PAGE}: seed more.`);
}

function identifiedContact(admin: Client): Promise<string> {
  const national_id = { type: 'CL_RUT' as const, value: '12.345.678-5' };
  return idOfMade(admin.POST('/v1/core/contacts', { body: { external_id: 'load-identified', national_id } }));
}

async function readySegment(admin: Client, say: (line: string) => void): Promise<string> {
  const body = { name: SEGMENT, rule: { attribute: 'attributes.plan', op: 'eq' as const, value: 'pro' } };
  await orRefusal(admin.POST('/v1/core/segments', { body }), 404, 409);
  const deadline = Date.now() + SEGMENT_READY_WITHIN_MS;
  for (;;) {
    const { data: found } = await admin.GET('/v1/core/segments', { params: { query: { name: SEGMENT } } });
    const [segment] = found.data;
    if (segment === undefined) return '';
    if (segment.state === 'ready' || Date.now() > deadline) {
      say(`  the segment is ${segment.state} and has ${segment.member_count} members`);
      return segment.id;
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function lastingLetter(admin: Client): Promise<string> {
  const formula = { type: 'per_amount' as const, currency: 'CLP', per: 1, points: 1_000_000 };
  const body = { name: 'Load: more points than there are', event: BEYOND, formula };
  await orRefusal(admin.POST('/v1/loyalty/rules', { body }), 409);
  const find = async (): Promise<string | undefined> => {
    const query = { stage: 'loyalty' as const, external_id: BEYOND };
    const { data: letters } = await admin.GET('/v1/core/dead-letters', { params: { query } });
    return letters.data[0]?.id;
  };
  const existing = await find();
  if (existing !== undefined) return existing;
  await admin.POST('/v1/core/track', {
    body: {
      event: BEYOND,
      external_id: BEYOND,
      idempotency_key: `${BEYOND}-${String(Date.now())}`,
      occurred_at: new Date().toISOString(),
      properties: { amount: Number.MAX_SAFE_INTEGER, currency: 'CLP' },
    },
  });
  for (const deadline = Date.now() + LETTER_WITHIN_MS; Date.now() < deadline;) {
    const letter = await find();
    if (letter !== undefined) return letter;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('No dead letter came of an event that earns more points than there are.');
}

/** Takes away the segments that lives left behind when the time was over, of this run and of earlier ones. */
export async function purgeSegments(platform: Platform): Promise<void> {
  const admin = await adminOf(platform);
  const query = { limit: LARGEST_PAGE, include_deleted: true };
  const { data: page } = await admin.GET('/v1/core/segments', { params: { query } });
  for (const { id, name, deleted_at: deletedAt } of page.data) {
    if (!name.startsWith(`${SEGMENT_NAME} `)) continue;
    const params = { path: { id } };
    if (deletedAt === null) await admin.DELETE('/v1/core/segments/{id}', { params });
    await admin.DELETE('/v1/core/segments/{id}/purge', { params });
  }
}
