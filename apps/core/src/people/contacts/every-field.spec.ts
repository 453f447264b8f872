import { newId } from '@customer-platform/database';
import { recordOf, SHARED_CONTACT_NAMES } from '@customer-platform/events';
import { eventually, expectStatus, type Caller } from '@customer-platform/testing';
import { accepted, anIdentify, START_MS } from '../../core.fixture.js';
import { at, CONTACTS, ContactWorld } from './contact.fixture.js';
import { asFields } from '../../vocabulary/contacts/contact-columns.js';
import type { ContactDto, UpdateContactDto } from './contact.dto.js';
import { Contact } from './contact.entity.js';
import {
  ADMINISTERED_FIELDS,
  CONTACT_FIELDS,
  FIELD_NAMES,
  FIELD_PROPERTIES,
  propertiesOf,
  propertyOf,
  TRAIT_FIELDS,
} from '../../vocabulary/contacts/contact-field-table.js';
import { merge, read } from '../merges/merge.fixture.js';
import { snapshotOf } from '../../vocabulary/contacts/shared-contact.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

const created = async (caller: Caller, body: object): Promise<ContactDto> => {
  const answer = await caller.post<ContactDto>(CONTACTS, body);
  expectStatus(answer, 201);
  return answer.body;
};
const EXAMPLES = recordOf(FIELD_NAMES, (field) => CONTACT_FIELDS[field].example);

describe('every field of a contact', () => {
  it('is taken, answered and listed, and taken away', async () => {
    const { caller } = world.anOrganization();
    const contact = await created(caller, EXAMPLES);
    expect(contact).toMatchObject(EXAMPLES);
    const list = await caller.get<{ data: ContactDto[] }>(CONTACTS);
    expect(list.body.data).toEqual([contact]);
    const cleared = FIELD_NAMES.filter((field) => field !== 'external_id');
    const emptied = await caller.patch<ContactDto>(
      at(contact),
      recordOf(cleared, () => null),
      {
        'if-match': '*',
      },
    );
    expectStatus(emptied, 200);
    expect(emptied.body).toMatchObject({
      ...recordOf(FIELD_NAMES, () => null),
      external_id: EXAMPLES.external_id,
    });
  });

  it('fills the gap of a survivor', async () => {
    const { caller } = world.anOrganization();
    const survivor = await created(caller, { external_id: newId() });
    const { external_id: _, ...others } = EXAMPLES;
    const merged = await created(caller, { ...others, external_id: newId() });
    await merge(caller, survivor, merged);
    expect(await read(caller, survivor)).toMatchObject(others);
  });

  it('that an identify names is set by it; what else is called so is an attribute', async () => {
    const { caller } = world.anOrganization();
    const { external_id: externalId, ...traits } = EXAMPLES;
    await accepted(caller, anIdentify({ external_id: externalId, traits }), '/v1/core/identify');
    await eventually(async () => {
      const { body } = await caller.get<{ data: ContactDto[] }>(CONTACTS);
      expect(body.data).toMatchObject([
        {
          ...recordOf(TRAIT_FIELDS, (field) => EXAMPLES[field]),
          ...recordOf(ADMINISTERED_FIELDS, () => null),
          attributes: recordOf(ADMINISTERED_FIELDS, (field) => EXAMPLES[field]),
        },
      ]);
    });
  });

  it('that is shared is told under its name', () => {
    const contact = Object.assign(new Contact(), {
      ...recordOf(FIELD_PROPERTIES, (property) => `value of ${property}`),
      ...{ id: newId(), attributes: {}, version: 1, mergedInto: null, deletedAt: null, erasedAt: null },
    });
    expect(snapshotOf(contact)).toEqual({
      ...recordOf(SHARED_CONTACT_NAMES, (field) => `value of ${propertyOf(field)}`),
      ...{ id: contact.id, attributes: {}, state: 'active' },
    });
  });
});

describe('a field that is misspelt', () => {
  it('does not compile where it is selected, merged, written, told or sent', () => {
    const misspelt = [
      // @ts-expect-error no such field
      () => asFields(['frist_name'], 'contact'),
      // @ts-expect-error no such field
      () => propertiesOf(['frist_name']),
      // @ts-expect-error no such property
      (contact: Contact) => contact.fristName,
      // @ts-expect-error no such field
      (contact: Contact) => snapshotOf(contact).frist_name,
      // @ts-expect-error no such field
      (body: UpdateContactDto) => body.frist_name,
    ];
    expect(misspelt).toHaveLength(5);
  });
});
