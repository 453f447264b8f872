import { createHash } from 'node:crypto';
import { eventually, expectStatus, type Caller } from '@customer-platform/testing';
import { strFromU8, unzipSync } from 'fflate';
import { accepted, aTrack } from '../../core.fixture.js';
import type { SubjectRequestDto } from '../subject-request.dto.js';
import { REQUESTS, VERIFICATION, type ErasureWorld } from '../subject-request.fixture.js';

export const ZIP = 'application/zip';

/** Asks for an archive; verified at once. */
export async function ask(caller: Caller, body: Record<string, unknown>): Promise<SubjectRequestDto> {
  const answer = await caller.post<SubjectRequestDto>(REQUESTS, {
    type: 'access',
    verification: VERIFICATION,
    ...body,
  });
  expectStatus(answer, 202);
  return answer.body;
}

/** As {@link ask}, until the archive is there. */
export async function askedIn(
  world: ErasureWorld,
  caller: Caller,
  body: Record<string, unknown>,
): Promise<SubjectRequestDto> {
  return world.inState(caller, await ask(caller, body), 'completed');
}

/** The files of an archive, by their names. */
export async function archiveOf(
  caller: Caller,
  { id, result }: SubjectRequestDto,
): Promise<{ files: Record<string, string>; headers: Headers }> {
  const { status, headers, bytes } = await caller.download(`${REQUESTS}/${id}`, `${ZIP}, */*;q=0.1`);
  expect([status, headers.get('content-type')]).toEqual([200, ZIP]);
  expect(result).toMatchObject({
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
  });
  const files = Object.entries(unzipSync(bytes)).map(([name, content]) => [name, strFromU8(content)]);
  return { files: Object.fromEntries(files) as Record<string, string>, headers };
}

/** The rows of one of its files. */
export const rowsIn = (files: Record<string, string>, name: string): Record<string, unknown>[] =>
  JSON.parse(files[`${name}.json`] ?? 'null') as Record<string, unknown>[];

/** So many events of a person, stored. */
export async function recorded(caller: Caller, externalId: string, count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) await accepted(caller, aTrack({ external_id: externalId }));
  await eventually(async () => {
    const { body } = await caller.get<{ data: object[] }>(`/v1/core/events?external_id=${externalId}`);
    expect(body.data).toHaveLength(count);
  });
}

/** Events of a contact, as they would stand after years. */
export async function remembered(
  world: ErasureWorld,
  organizationId: string,
  contactId: string,
  count: number,
): Promise<void> {
  await world.contacts.core.database.query(
    `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at,
                         payload, source, fingerprint, created_at)
     SELECT $1, gen_random_uuid(), 'track', 'page_viewed', 'x', $2, 'k' || n, now() - n * interval '1 min', now(),
            jsonb_build_object('n', n), 'api', gen_random_uuid(), now()
       FROM generate_series(1, $3::int) AS n`,
    [organizationId, contactId, count],
  );
}
