import { newId } from '@customer-platform/database';
import type { Answer, Caller } from '../caller.js';
import { eventually } from '../eventually.js';

export const CONTACTS = '/v1/core/contacts';
export const MERGE = `${CONTACTS}/merge`;
export const REQUESTS = '/v1/core/subject-requests';
export const VERIFICATION = { method: 'clave_unica', reference: 'case 4711' };

/** A path of one contact. */
export const at = ({ id }: { id: string }, suffix = ''): string => `${CONTACTS}/${id}${suffix}`;

/**
 * An event of a person, by which points are earned and a mail is sent where the organization has such rules.
 * @param of what else it says
 */
export function aPurchase(externalId: string, of: string, idempotencyKey = newId()) {
  return {
    event: 'invoice_paid',
    external_id: externalId,
    idempotency_key: idempotencyKey,
    occurred_at: new Date().toISOString(),
    properties: { amount: 12_990, currency: 'CLP', invoice_id: 'INV-1', of },
  };
}

/** Sends an event until it is taken, as senders do. @returns its id */
export function taken(caller: Caller, body: Record<string, unknown>): Promise<string> {
  return eventually(
    async () => {
      const answer = await caller.post<{ event_id: string }>('/v1/core/track', body);
      if (answer.status !== 202) throw new Error(`${String(answer.status)} ${JSON.stringify(answer.body)}`);
      return answer.body.event_id;
    },
    { within: 60_000, every: 1_000 + Math.random() * 1_000 },
  );
}

/** A token by which the person of an external id acts as a member. */
export async function memberToken(caller: Caller, externalId: string): Promise<string> {
  const { body } = await caller.post<{ access_token: string }>('/v1/core/members/token-exchange', {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: externalId,
    subject_token_type: 'urn:customer-platform:token-type:external-id',
  });
  return body.access_token;
}

/** Sends a file of contacts. */
export async function importFile(
  caller: Caller,
  file: string,
  mapping: object,
): Promise<Answer<{ id: string }>> {
  const form = new FormData();
  form.append('options', JSON.stringify({ mapping }));
  form.append('file', new Blob([file]), 'contacts.csv');
  const body = new Response(form);
  const bytes = new Uint8Array(await body.arrayBuffer());
  const headers = { 'content-type': body.headers.get('content-type') ?? '' };
  return caller.call<{ id: string }>('POST', '/v1/core/imports', { bytes, headers });
}
