import { expectStatus, type Caller } from '@customer-platform/testing';

/** Leaves an import behind. */
export async function importContacts(caller: Caller): Promise<void> {
  const form = new FormData();
  form.append('options', JSON.stringify({ mapping: { id: 'external_id' } }));
  form.append('file', new Blob(['id\nimported-1\n']), 'contacts.csv');
  const sent = new Response(form);
  const bytes = new Uint8Array(await sent.arrayBuffer());
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' };
  expectStatus(await caller.call('POST', '/v1/core/imports', { bytes, headers }), 202);
}
