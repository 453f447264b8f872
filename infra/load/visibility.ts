import { randomUUID } from 'node:crypto';
import { type Platform, get } from '@customer-platform/kit/platform.ts';
import { adminOf, publicApi } from '@customer-platform/kit/public-api.ts';

interface Timeline {
  data: { type: string; correlation_id: string }[];
}

/** Few, and asked for calmly: a timeline costs as much as twenty events do. */
const PROBE_EVERY_MS = 1_000;
const POLL_EVERY_MS = 100;
const GIVE_UP_MS = 30_000;

/**
 * Measures, while other load runs, how long an accepted purchase takes until its contact's timeline shows the
 * event, its points and its message. One probe contact, a new purchase each second.
 *
 * The delay includes the polling interval (100 ms) and the timeline's own answer time.
 */
export async function measureVisibility(platform: Platform, seconds: number): Promise<number[]> {
  const externalId = `probe-${randomUUID()}`;
  const contactId = await createProbe(platform, externalId);
  const until = Date.now() + seconds * 1000;
  const probes: Promise<number>[] = [];
  while (Date.now() < until) {
    probes.push(probe(platform, externalId, contactId));
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  return Promise.all(probes);
}

async function createProbe(platform: Platform, externalId: string): Promise<string> {
  const source = await publicApi(platform.base_url, platform.ingestion_key);
  await source.POST('/v1/core/identify', {
    body: {
      external_id: externalId,
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
      traits: { email: `${externalId}@example.com`, first_name: 'Probe' },
    },
  });
  const admin = await adminOf(platform);
  const params = { query: { external_id: externalId } };
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    const { data: events } = await admin.GET('/v1/core/events', { params });
    const found = events.data[0]?.contact_id;
    if (found !== undefined && found !== null) return found;
    if (Date.now() > deadline) throw new Error('the probe contact did not appear within 30 s');
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
}

/** Milliseconds from the 202 until all three fragments are there; Infinity where they never came. */
async function probe(platform: Platform, externalId: string, contactId: string): Promise<number> {
  const { event_id: eventId } = await post(platform, '/v1/core/track', {
    event: 'purchase_completed',
    external_id: externalId,
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
    properties: { amount: 12990, currency: 'CLP', invoice_id: 'probe' },
  });
  const accepted = Date.now();
  while (Date.now() - accepted < GIVE_UP_MS) {
    const path = `/v1/crm/contacts/${contactId}/timeline?correlation_id=${eventId}`;
    const seen = new Set((await get<Timeline>(platform, path)).data.map(({ type }) => type));
    if (seen.has('event') && seen.has('transaction') && seen.has('send')) return Date.now() - accepted;
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
  return Infinity;
}

async function post(platform: Platform, path: string, body: unknown): Promise<{ event_id: string }> {
  const answer = await fetch(platform.base_url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.ingestion_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 202) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { event_id: string };
}
