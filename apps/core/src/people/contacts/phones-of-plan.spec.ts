import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { accepted, anIdentify, START_MS } from '../../core.fixture.js';
import type { ContactDto } from './contact.dto.js';
import { at, CONTACTS, ContactWorld } from './contact.fixture.js';

/** A number that is long enough, and of no plan. */
const OF_BEFORE = '+560987650021';

interface TestOrganization {
  readonly id: string;
  readonly caller: Caller;
}

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

/** A contact whose number was stored when its length was enough. */
async function aContactOfBefore(organization: TestOrganization, externalId = 'ana'): Promise<ContactDto> {
  const { id: organizationId, caller } = organization;
  const { id } = await world.created(caller, { external_id: externalId, phone: '+56987650020' });
  await world.core.database.query(`UPDATE contacts SET phone = $3 WHERE organization_id = $1 AND id = $2`, [
    organizationId,
    id,
    OF_BEFORE,
  ]);
  await world.core.database.query(
    `UPDATE identities SET value = $3, normal_value = $3 WHERE organization_id = $1 AND contact_id = $2 AND type = 'phone'`,
    [organizationId, id, OF_BEFORE],
  );
  return (await caller.get<ContactDto>(`${CONTACTS}/${id}`)).body;
}

async function found(caller: Caller, query: string): Promise<(string | null)[]> {
  const answer = await caller.get<{ data: ContactDto[] }>(`${CONTACTS}?${query}`);
  expectStatus(answer, 200);
  return answer.body.data.map(({ external_id: id }) => id);
}

async function warningsOf(organization: TestOrganization, body: Record<string, unknown>): Promise<unknown> {
  const sent = anIdentify(body);
  const { event_id: id } = await accepted(organization.caller, sent, '/v1/core/identify');
  return eventually(async () => {
    const path = `/v1/core/events?correlation_id=${id}`;
    const [event] = (await organization.caller.get<{ data: { warnings: unknown }[] }>(path)).body.data;
    expect(event).toBeDefined();
    return event?.warnings;
  });
}

describe('a phone number of no numbering plan', () => {
  it.each([
    ['+560987650013', 'numbering plan'],
    ['(09) 8765 0014', 'numbering plan'],
    ['56987650015.0', 'spreadsheet'],
    ['5.6988E+10', 'spreadsheet'],
  ])('%s is refused, and the answer says why', async (phone, why) => {
    const { caller } = world.anOrganization();
    const detail = expect.stringContaining(why) as string;
    const body = { external_id: 'ana', country: 'CL', phone };
    const { errors } = expectProblem(await caller.post(CONTACTS, body), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/phone', code: 'invalid_format', detail }]);
    const contact = await world.created(caller, { external_id: 'ana', country: 'CL' });
    expectProblem(await caller.patch(at(contact), { phone }), 400, 'validation_failed');
    const identity = { type: 'phone', value: phone };
    const added = await caller.post(`${at(contact)}/identities`, identity);
    expectProblem(added, 400, 'validation_failed');
  });

  it('leaves the zero in brackets out where the plan has the number without it', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { phone: '+56 (0)9 8765 0016' });
    expect(contact.phone).toBe('+56987650016');
  });

  it('warns on the event that says it, which stands', async () => {
    const organization = world.anOrganization();
    const warnings = await warningsOf(organization, {
      external_id: 'eva',
      traits: { first_name: 'Eva', country: 'CL', phone: '56987650017.0' },
      identities: [{ type: 'phone', value: '+560987650018' }],
    });
    expect(warnings).toEqual([
      { pointer: '/traits/phone', code: 'invalid_format' },
      { pointer: '/identities/0/value', code: 'invalid_format' },
    ]);
    const answer = await organization.caller.get<{ data: ContactDto[] }>(`${CONTACTS}?external_id=eva`);
    expect(answer.body.data).toMatchObject([{ first_name: 'Eva', phone: null }]);
  });
});

describe('a phone number that was stored before', () => {
  it('is found, and written back as it is', async () => {
    const organization = world.anOrganization();
    const { caller } = organization;
    const contact = await aContactOfBefore(organization);
    expect(contact.phone).toBe(OF_BEFORE);
    expect(await found(caller, `phone=${encodeURIComponent(OF_BEFORE)}`)).toEqual(['ana']);
    expect(await found(caller, `identity=${encodeURIComponent(`phone:${OF_BEFORE}`)}`)).toEqual(['ana']);
    const same = await caller.patch<ContactDto>(at(contact), { phone: OF_BEFORE, first_name: 'Ana' });
    expectStatus(same, 200);
    expect(same.body).toMatchObject({ phone: OF_BEFORE, first_name: 'Ana' });
    expectStatus(await caller.post(`${at(contact)}/identities`, { type: 'phone', value: OF_BEFORE }), 200);
  });

  it('is said again by events without a warning', async () => {
    const organization = world.anOrganization();
    await aContactOfBefore(organization);
    const body = {
      external_id: 'ana',
      traits: { phone: OF_BEFORE },
      identities: [{ type: 'phone', value: OF_BEFORE }],
    };
    expect(await warningsOf(organization, body)).toEqual([]);
  });

  it('goes with its contact into a merge', async () => {
    const organization = world.anOrganization();
    const { caller } = organization;
    const survivor = await world.created(caller, { external_id: 'survivor' });
    const merged = await aContactOfBefore(organization, 'merged');
    expectStatus(
      await caller.post(`${CONTACTS}/merge`, { survivor_id: survivor.id, merged_id: merged.id }),
      200,
    );
    const after = await caller.get<ContactDto>(at(survivor));
    expect(after.body.phone).toBe(OF_BEFORE);
    expect(await found(caller, `phone=${encodeURIComponent(OF_BEFORE)}`)).toEqual(['survivor']);
  });
});
