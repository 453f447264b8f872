import { randomUUID } from 'node:crypto';
import { type Platform, get, request } from '@customer-platform/kit/platform.ts';

const PATH = '/v1/loyalty/transactions';
/** A gift is good for so long here; a campaign gives weeks. */
const GIFT_FOR_MS = 3_000;
/** A lot ends within a minute of its time. */
const EXPIRED_WITHIN_MS = 75_000;

interface Transaction {
  id: string;
  kind: string;
  points: number;
}

/** Spends points of a contact, takes one spend back, and gives some that nobody uses: waits until they have expired. */
export async function movePoints(
  platform: Platform,
  contactId: string,
  say: (line: string) => void,
): Promise<void> {
  const post = async (body: Record<string, unknown>): Promise<Transaction> => {
    const headers = { 'idempotency-key': randomUUID() };
    return (await request(platform, 'POST', PATH, body, { headers })).body as Transaction;
  };
  await post({ kind: 'spend', contact_id: contactId, points: 5, reference: 'A filter for the road' });
  const mistaken = await post({ kind: 'spend', contact_id: contactId, points: 2, reference: 'Typed twice' });
  await post({ kind: 'reverse', reverses_id: mistaken.id, reason: 'Typed twice' });
  const expires_at = new Date(Date.now() + GIFT_FOR_MS).toISOString();
  const gift = await post({
    kind: 'adjust',
    contact_id: contactId,
    points: 50,
    reason: 'A gift',
    expires_at,
  });
  say('\nSpent, reversed and given points; waiting until the gift has expired');
  await untilExpired(platform, contactId, gift);
}

async function untilExpired(platform: Platform, contactId: string, gift: Transaction): Promise<void> {
  const path = `${PATH}?contact_id=${contactId}&kind=expire`;
  const deadline = Date.now() + EXPIRED_WITHIN_MS;
  for (;;) {
    const { data } = await get<{ data: { lines: { lot_id: string }[] }[] }>(platform, path);
    if (data.some(({ lines }) => lines.some(({ lot_id: lot }) => lot === gift.id))) return;
    if (Date.now() > deadline) throw new Error('The gift has not expired.');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
