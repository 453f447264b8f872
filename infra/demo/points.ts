import type { BodyOf, Client, DataOf } from '@customer-platform/client';

const PATH = '/v1/loyalty/transactions';
/** A gift is good for so long here; a campaign gives weeks. */
const GIFT_FOR_MS = 3_000;
/** A lot ends within a minute of its time. */
const EXPIRED_WITHIN_MS = 75_000;

type Transaction = DataOf<'post', typeof PATH>;

/** Spends points of a contact, takes one spend back, and gives some that nobody uses: waits until they have expired. */
export async function movePoints(
  admin: Client,
  contactId: string,
  say: (line: string) => void,
): Promise<void> {
  const post = async (body: BodyOf<'post', typeof PATH>): Promise<Transaction> =>
    (await admin.POST(PATH, { body })).data;
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
  await untilExpired(admin, contactId, gift);
}

async function untilExpired(admin: Client, contactId: string, gift: Transaction): Promise<void> {
  const params = { query: { contact_id: contactId, kind: 'expire' as const } };
  const deadline = Date.now() + EXPIRED_WITHIN_MS;
  for (;;) {
    const { data: expired } = await admin.GET(PATH, { params });
    if (expired.data.some(({ lines }) => lines.some(({ lot_id: lot }) => lot === gift.id))) return;
    if (Date.now() > deadline) throw new Error('The gift has not expired.');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
