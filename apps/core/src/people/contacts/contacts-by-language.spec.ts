import { Database, newId } from '@customer-platform/database';
import { Cursors, parseListRequest, type ListQuery } from '@customer-platform/http';
import { explained, expectStatus, rowsRead, type PlanNode } from '@customer-platform/testing';
import { START_MS } from '../../core.fixture.js';
import { CONTACTS, ContactWorld } from './contact.fixture.js';
import { CONTACT_LIST, type ContactDto } from './contact.dto.js';
import { pageOfContacts } from './contacts-page.js';

interface ContactPage {
  data: ContactDto[];
  page: { next_cursor: string | null };
}

const NAMES = [
  'Zúñiga',
  'Nuñez',
  'alvarez',
  'ñandú',
  'Álvarez',
  null,
  'ávila',
  'Ñ',
  'Nunz',
  'Alvarez',
  'Álvarez',
];

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

describe('GET /v1/core/contacts?sort=last_name', () => {
  it.each([
    [
      'es-CL',
      [null, 'alvarez', 'Alvarez', 'Álvarez', 'Álvarez', 'ávila', 'Nunz', 'Nuñez', 'Ñ', 'ñandú', 'Zúñiga'],
    ],
    [
      'en',
      [null, 'alvarez', 'Alvarez', 'Álvarez', 'Álvarez', 'ávila', 'Ñ', 'ñandú', 'Nuñez', 'Nunz', 'Zúñiga'],
    ],
  ])('walks by the alphabet of %s, up and down', async (locale, expected) => {
    const { caller } = world.core.anOrganization(undefined, { locale });
    for (const last_name of NAMES) await world.created(caller, { last_name });
    const walk = async (sort: string): Promise<ContactDto[]> => {
      const walked: ContactDto[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const answer = await caller.get<ContactPage>(`${CONTACTS}?limit=3&sort=${sort}${from}`);
        expectStatus(answer, 200);
        walked.push(...answer.body.data);
        cursor = answer.body.page.next_cursor;
      }
      return walked;
    };
    const up = await walk('last_name');
    expect(up.map(({ last_name: name }) => name)).toEqual(expected);
    const down = await walk('-last_name');
    expect(down.map(({ id }) => id)).toEqual(up.map(({ id }) => id).toReversed());
  });

  const readAsked = (organizationId: string, cursor?: string): ListQuery =>
    parseListRequest(
      CONTACT_LIST,
      Object.entries({ sort: 'last_name', limit: '5', ...(cursor === undefined ? {} : { cursor }) }).map(
        ([name, value]) => ({ name, value }),
      ),
      organizationId,
      new Cursors('c'.repeat(32)),
      'es',
    );

  const withManyContacts = async (organizationId: string): Promise<void> => {
    await world.query(
      `WITH made AS (
         INSERT INTO contacts (organization_id, id, source, last_name)
         SELECT $1, gen_random_uuid(), 'api', 'Álvarez ' || n FROM generate_series(1, 3000) AS n
         RETURNING organization_id, id)
       INSERT INTO contact_activity (organization_id, contact_id, last_seen_at) SELECT organization_id, id, now() FROM made`,
      [organizationId],
    );
    await world.query('ANALYZE contacts, contact_activity', []);
  };

  it('reads a page from the index of the collation, as far as the page goes', async () => {
    const { id: organizationId } = world.anOrganization();
    await withManyContacts(organizationId);
    const plans: PlanNode[] = [];
    await world.core.app.app.get(Database).inOrganization({ organizationId }, async (tx) => {
      const first = await pageOfContacts(tx, readAsked(organizationId));
      const next = readAsked(organizationId, first.page.next_cursor ?? '');
      await pageOfContacts(
        explained(tx, /page_key_0/, (plan) => plans.push(plan)),
        next,
      );
    });
    expect(plans.map((plan) => rowsRead(plan, 'contacts'))).toEqual([6]);
  });

  it('finds who has a last name without going through all contacts', async () => {
    const { id: organizationId } = world.anOrganization();
    await withManyContacts(organizationId);
    const parameters = [{ name: 'last_name', value: 'Álvarez 7' }];
    const query = parseListRequest(CONTACT_LIST, parameters, organizationId, new Cursors('c'.repeat(32)));
    const plans: PlanNode[] = [];
    const found = await world.core.app.app.get(Database).inOrganization({ organizationId }, (tx) =>
      pageOfContacts(
        explained(tx, /page_key_0/, (plan) => plans.push(plan)),
        query,
      ),
    );
    expect(found.data.map(({ last_name: name }) => name)).toEqual(['Álvarez 7']);
    expect(plans.map((plan) => rowsRead(plan, 'contacts'))).toEqual([1]);
  });

  it('400 cursor_mismatch for a cursor of another version of the collation', async () => {
    const { id: organizationId } = world.anOrganization();
    const cursor = readAsked(organizationId).cursorFor(['Soto', newId()], '1.0');
    const read = world.core.app.app
      .get(Database)
      .inOrganization({ organizationId }, (tx) => pageOfContacts(tx, readAsked(organizationId, cursor)));
    await expect(read).rejects.toMatchObject({ code: 'cursor_mismatch' });
  });
});
