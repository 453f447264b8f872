import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Platform, drained } from '@customer-platform/kit/platform.ts';
import type { Client } from '@customer-platform/client';
import { insure, showWhatRefers } from './insurer.ts';

const WITHIN_MS = 60_000;
const VERIFICATION = { method: 'demo', reference: 'shown at the counter' };

/** Where the demo is shown, and what it writes. */
interface RightsDemo {
  readonly platform: Platform;
  readonly admin: Client;
  /** Part of what is made, so that each run has somebody of its own: who was erased does not come again. */
  readonly run: string;
  /** Where the archive is put. */
  readonly file: string;
  readonly say: (line: string) => void;
}

/** Somebody buys, asks what is held of them, gets it as a file, asks to be erased, and is gone with four receipts. */
export async function showRights(demo: RightsDemo): Promise<void> {
  const { platform, admin, run, say } = demo;
  say(`\nSomebody who leaves: leaver-${run}`);
  const contactId = await introduce(demo);
  await showWhatRefers(admin, contactId, say);
  const identity = { type: 'external_id', value: `leaver-${run}` };
  const access = await admin.POST('/v1/core/subject-requests', {
    body: { type: 'access', identity, verification: VERIFICATION },
  });
  const archive = await ended(demo, access.data.id);
  say(`\nAccess of leaver-${run}: ${archive.state}, due ${archive.due_at}`);
  const answer = await fetch(`${platform.base_url}/v1/core/subject-requests/${archive.id}`, {
    headers: { authorization: `Bearer ${platform.admin_key}`, accept: 'application/zip' },
  });
  if (!answer.ok) throw new Error(`The archive is answered ${answer.status}.`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const isWhole = createHash('sha256').update(bytes).digest('hex') === archive.result?.sha256;
  writeFileSync(demo.file, bytes);
  say(
    `  ${bytes.length} bytes, ${isWhole ? 'as its SHA-256 says' : 'NOT AS ITS SHA-256 SAYS'}: ${demo.file}`,
  );

  const erasure = await admin.POST('/v1/core/subject-requests', {
    body: { type: 'erasure', contact_id: contactId, verification: VERIFICATION },
  });
  const erased = await ended(demo, erasure.data.id);
  say(`\nErasure of leaver-${run}: ${erased.state}`);
  for (const { module, state, counts } of erased.receipts) {
    const taken = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
    const said = taken.map(([what, count]) => `${what.replaceAll('_', ' ')}: ${count}`).join(', ');
    say(`  receipt of ${module.padEnd(9)} ${state}: ${said === '' ? 'held nothing' : said}`);
  }
  const { data: left } = await admin.GET('/v1/core/contacts', {
    params: { query: { external_id: `leaver-${run}` } },
  });
  say(`  contacts called leaver-${run}: ${left.data.length}`);
}

async function introduce({ platform, admin, run }: RightsDemo): Promise<string> {
  const external_id = `leaver-${run}`;
  const occurred_at = new Date().toISOString();
  const common = { external_id, occurred_at };
  const traits = { email: `${external_id}@example.com`, first_name: 'Leaver' };
  await admin.POST('/v1/core/identify', {
    body: { ...common, idempotency_key: `${run}-leaver-known`, traits },
  });
  const properties = { amount: 24_990, currency: 'CLP', invoice_id: `F-${run}` };
  await admin.POST('/v1/core/track', {
    body: { ...common, event: 'purchase_completed', idempotency_key: `${run}-leaver-bought`, properties },
  });
  await drained(platform, 60);
  const { data: found } = await admin.GET('/v1/core/contacts', { params: { query: { external_id } } });
  const [contact] = found.data;
  if (contact === undefined) throw new Error(`${external_id} is not there.`);
  const note = { contact_id: contact.id, body: 'Wants to leave.' };
  await admin.POST('/v1/crm/notes', { body: note });
  await insure(admin, contact.id, run);
  return contact.id;
}

async function ended({ admin }: RightsDemo, id: string) {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const { data: request } = await admin.GET('/v1/core/subject-requests/{id}', { params: { path: { id } } });
    if (request.state === 'completed' || request.state === 'rejected') return request;
    if (Date.now() > deadline) throw new Error(`After a minute the request is ${request.state}.`);
    await sleep(200);
  }
}
