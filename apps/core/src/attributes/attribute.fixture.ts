import { expectStatus, type Caller } from '@customer-platform/testing';
import { SegmentWorld } from '../segments/segment.fixture.js';
import type { ContactDto } from '../people/contacts/contact.dto.js';
import type { AttributeDefinitionDto } from './attribute-definition.dto.js';
import { ConversionRunner } from './conversion/conversion-runner.js';

/** The collection. */
export const DEFINITIONS = '/v1/core/attribute-definitions';
export const CONTACTS = '/v1/core/contacts';

/** The runner of a core without workers: a spec says when it goes on. */
export function runnerOf(world: SegmentWorld): ConversionRunner {
  return world.core.app.app.get(ConversionRunner, { strict: false });
}

/** A definition whose conversion has ended, if contacts are few. */
export async function declared(
  caller: Caller,
  key: string,
  type: string,
  more: Record<string, unknown> = {},
): Promise<AttributeDefinitionDto> {
  const answer = await caller.post<AttributeDefinitionDto>(DEFINITIONS, { key, type, ...more });
  expectStatus(answer, 201);
  return answer.body;
}

/** A definition as it is read now. */
export async function readDefinition(
  caller: Caller,
  { id }: { id: string },
): Promise<AttributeDefinitionDto> {
  const answer = await caller.get<AttributeDefinitionDto>(`${DEFINITIONS}/${id}`);
  expectStatus(answer, 200);
  return answer.body;
}

/** A contact with these attributes. */
export async function aContactWith(
  caller: Caller,
  externalId: string,
  attributes: Record<string, unknown>,
): Promise<ContactDto> {
  const answer = await caller.post<ContactDto>(CONTACTS, { external_id: externalId, attributes });
  expectStatus(answer, 201);
  return answer.body;
}

/** The attributes of a contact now. */
export async function attributesOf(caller: Caller, { id }: { id: string }): Promise<Record<string, unknown>> {
  const answer = await caller.get<ContactDto>(`${CONTACTS}/${id}`);
  expectStatus(answer, 200);
  return answer.body.attributes;
}

/** Many contacts whose attribute `size` is the text of their number. */
export async function manyContacts(
  world: SegmentWorld,
  organizationId: string,
  count: number,
): Promise<void> {
  await world.core.database.query(
    `INSERT INTO contacts (organization_id, id, external_id, source, attributes)
     SELECT $1, gen_random_uuid(), 'person-' || n, 'api', jsonb_build_object('size', n::text)
       FROM generate_series(1, $2::int) AS n`,
    [organizationId, count],
  );
  await world.core.database.query(
    `INSERT INTO contact_activity (organization_id, contact_id, last_seen_at)
     SELECT organization_id, id, now() FROM contacts WHERE organization_id = $1 ON CONFLICT DO NOTHING`,
    [organizationId],
  );
  await world.core.database.query(
    `INSERT INTO identities (organization_id, id, contact_id, type, value, normal_value, source, first_seen_at, last_seen_at)
     SELECT organization_id, gen_random_uuid(), id, 'external_id', external_id, external_id, 'api', now(), now()
       FROM contacts WHERE organization_id = $1 AND external_id LIKE 'person-%'`,
    [organizationId],
  );
}
