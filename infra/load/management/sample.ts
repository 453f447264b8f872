import { get, request, type Platform } from '@customer-platform/kit/platform.ts';
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

interface Page<T> {
  data: T[];
  page: { next_cursor: string | null };
}

/** Collects what the calls need, and makes what is missing: a contact with a national id, a segment. */
export async function takeSample(platform: Platform, say: (line: string) => void): Promise<Sample> {
  const { data: contacts } = await get<Page<Sample['contacts'][number]>>(
    platform,
    '/v1/core/contacts?limit=200&external_id[is_null]=false&email[is_null]=false&phone[is_null]=false',
  );
  const { data: events } = await get<Page<Sample['events'][number] & { occurred_at: string }>>(
    platform,
    '/v1/core/events?limit=200',
  );
  const [newest] = events;
  if (contacts.length === 0 || newest === undefined)
    throw new Error('There is nothing to read yet: run "npm run load -- seed" first.');
  say(`  walking to page ${DEEP_PAGE.toLocaleString('en')} of contacts and of events …`);
  return {
    routes: await routesOf(platform),
    contacts,
    events,
    identified: await identifiedContact(platform),
    segment: await readySegment(platform, say),
    deadLetter: await lastingLetter(platform),
    deepContacts: await deepPage(platform, '/v1/core/contacts'),
    deepEvents: await deepPage(platform, '/v1/core/events'),
    recent: new Date(Date.parse(newest.occurred_at) - DAY_MS).toISOString(),
    longAgo: new Date(Date.now() - 398 * DAY_MS).toISOString().slice(0, 10),
  };
}

async function routesOf(platform: Platform): Promise<string[]> {
  const { paths } = await get<{ paths: Record<string, object> }>(platform, '/v1/openapi.json');
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** A cursor is bound to filters and order, not to the limit: the way there is walked in the longest steps. */
async function deepPage(platform: Platform, path: string): Promise<string> {
  let query = '';
  for (let rows = 0; rows < (DEEP_PAGE - 1) * PAGE; rows += LARGEST_PAGE) {
    const { page } = await get<Page<unknown>>(platform, `${path}?limit=${LARGEST_PAGE}${query}`);
    if (page.next_cursor === null) throw new Error(`${path} has no page ${DEEP_PAGE}: seed more.`);
    query = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  return `${path}?limit=${PAGE}${query}`;
}

async function identifiedContact(platform: Platform): Promise<string> {
  const body = { external_id: 'load-identified', national_id: { type: 'CL_RUT', value: '12.345.678-5' } };
  const answer = await request(platform, 'POST', '/v1/core/contacts', body, { allow: [409] });
  const { id, conflicting_id: existing } = answer.body as { id?: string; conflicting_id?: string };
  return id ?? existing ?? '';
}

async function readySegment(platform: Platform, say: (line: string) => void): Promise<string> {
  const rule = { attribute: 'attributes.plan', op: 'eq', value: 'pro' };
  await request(platform, 'POST', '/v1/core/segments', { name: SEGMENT, rule }, { allow: [404, 409] });
  const path = `/v1/core/segments?name=${encodeURIComponent(SEGMENT)}`;
  const deadline = Date.now() + SEGMENT_READY_WITHIN_MS;
  for (;;) {
    const { data } = await get<Page<{ id: string; state: string; member_count: number }>>(platform, path);
    const [segment] = data;
    if (segment === undefined) return '';
    if (segment.state === 'ready' || Date.now() > deadline) {
      say(`  the segment is ${segment.state} and has ${segment.member_count} members`);
      return segment.id;
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function lastingLetter(platform: Platform): Promise<string> {
  const formula = { type: 'per_amount', currency: 'CLP', per: 1, points: 1_000_000 };
  const rule = { name: 'Load: more points than there are', event: BEYOND, formula };
  await request(platform, 'POST', '/v1/loyalty/rules', rule, { allow: [409] });
  const find = async (): Promise<string | undefined> => {
    const { data } = await get<Page<{ id: string }>>(
      platform,
      `/v1/core/dead-letters?stage=loyalty&external_id=${BEYOND}`,
    );
    return data[0]?.id;
  };
  const existing = await find();
  if (existing !== undefined) return existing;
  await request(platform, 'POST', '/v1/core/track', {
    event: BEYOND,
    external_id: BEYOND,
    idempotency_key: `${BEYOND}-${String(Date.now())}`,
    occurred_at: new Date().toISOString(),
    properties: { amount: Number.MAX_SAFE_INTEGER, currency: 'CLP' },
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
  const { data } = await get<Page<{ id: string; name: string; deleted_at: string | null }>>(
    platform,
    '/v1/core/segments?limit=200&include_deleted=true',
  );
  for (const { id, deleted_at: deletedAt } of data.filter(({ name }) =>
    name.startsWith(`${SEGMENT_NAME} `),
  )) {
    if (deletedAt === null) await request(platform, 'DELETE', `/v1/core/segments/${id}`);
    await request(platform, 'DELETE', `/v1/core/segments/${id}/purge`);
  }
}
