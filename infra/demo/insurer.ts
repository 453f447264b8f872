import type { Client } from '@customer-platform/client';
import { orRefusal } from '@customer-platform/kit/public-api.ts';

/** What an insurer keeps of somebody: a vehicle, which goes with its owner, and a policy about it, which stays. */
export async function insure(admin: Client, contactId: string, run: string): Promise<void> {
  const vehicle =
    (await known(admin, 'vehicle')) ??
    (
      await admin.POST('/v1/crm/object-definitions', {
        body: {
          slug: 'vehicle',
          name: 'Vehicle',
          fields: [
            { key: 'plate', type: 'string', max_length: 20, required: true, unique: true },
            { key: 'year', type: 'integer', min: 1900, indexed: true },
            { key: 'owner', type: 'reference', target: 'contact', indexed: true },
          ],
        },
      })
    ).data.id;
  if ((await known(admin, 'policy')) === undefined)
    await admin.POST('/v1/crm/object-definitions', {
      body: {
        slug: 'policy',
        name: 'Policy',
        fields: [
          { key: 'number', type: 'string', max_length: 40, required: true, unique: true },
          { key: 'vehicle', type: 'reference', target: vehicle, indexed: true },
          { key: 'holder', type: 'reference', target: 'contact', on_erasure: 'clear' },
          { key: 'until', type: 'date', indexed: true },
        ],
      },
    });
  const { data: owned } = await admin.POST('/v1/crm/objects/{slug}', {
    params: { path: { slug: 'vehicle' } },
    body: { values: { plate: `V-${run}`, year: 2021, owner: contactId } },
  });
  await admin.POST('/v1/crm/objects/{slug}', {
    params: { path: { slug: 'policy' } },
    body: { values: { number: `P-${run}`, vehicle: owned.id, holder: contactId, until: '2027-06-30' } },
  });
}

/** Tries to purge somebody of whom there is something, prints what refers to them, and lets them be. */
export async function showWhatRefers(admin: Client, id: string, say: (line: string) => void): Promise<void> {
  const params = { path: { id } };
  await admin.DELETE('/v1/core/contacts/{id}', { params });
  const refusal = await orRefusal(admin.DELETE('/v1/core/contacts/{id}/purge', { params }), 409);
  await admin.POST('/v1/core/contacts/{id}/restore', { params });
  const { references = [] } = ('body' in refusal ? refusal.body : {}) as {
    references?: { module: string; resource: string; count: number }[];
  };
  const said = references.map(({ module, resource, count }) => `${resource} of ${module}: ${count}`);
  say(`  no purge while something refers to them: ${said.join(', ')}`);
}

async function known(admin: Client, slug: string): Promise<string | undefined> {
  const { data: page } = await admin.GET('/v1/crm/object-definitions', { params: { query: { slug } } });
  return page.data[0]?.id;
}
