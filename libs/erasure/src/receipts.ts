import { SIGNING_ALGORITHM, type SigningKeys } from '@customer-platform/database';
import { compactVerify, CompactSign, createLocalJWKSet, decodeProtectedHeader, type JWK } from 'jose';

/** How many rows of each resource an erasure took away or cleared, by the resource's name. */
export type ErasedCounts = Readonly<Record<string, number>>;

/** The modules that keep something of a contact beside core. */
export type ErasingModule = 'crm' | 'loyalty' | 'messaging';

/** The purpose of the keys that sign receipts. */
export const RECEIPTS = 'erasure receipts';

/** Receipts are proofs: what verifies them is shown for as long as anybody may ask for one. */
export const RECEIPT_KEYS_SHOWN_FOR_MS = 20 * 365 * 86_400_000;

const TYPE = 'erasure-receipt+jws';

/** What a receipt says: who has erased, for which request, how much and when. */
interface ReceiptContent {
  readonly module: ErasingModule | 'core';
  readonly organization_id: string;
  readonly subject_request_id: string;
  readonly counts: ErasedCounts;
  /** ISO 8601. */
  readonly completed_at: string;
}

/** The receipt as a compact JWS (ES256), by the module's own key. */
export async function signReceipt(keys: SigningKeys, content: ReceiptContent): Promise<string> {
  const { kid, privateKey } = await keys.toSign(RECEIPTS);
  return new CompactSign(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: TYPE })
    .sign(privateKey);
}

/** The id of the key by which a receipt was signed; undefined for what is no receipt. */
export function receiptKeyId(receipt: string): string | undefined {
  try {
    const { kid, typ } = decodeProtectedHeader(receipt);
    return typ === TYPE ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** What a receipt says, if one of these keys signed it; throws otherwise. */
export async function openReceipt(receipt: string, keys: readonly JWK[]): Promise<ReceiptContent> {
  const set = createLocalJWKSet({ keys: [...keys] });
  const { payload } = await compactVerify(receipt, set, { algorithms: [SIGNING_ALGORITHM] });
  return JSON.parse(new TextDecoder().decode(payload)) as ReceiptContent;
}
