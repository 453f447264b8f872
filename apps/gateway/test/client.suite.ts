import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Client, createClient, ProblemError } from '@customer-platform/client';
import { eventually, type PlatformUnderTest, START_WITHIN_MS, type Tenant } from '@customer-platform/testing';
import { journeyPlatform } from './journey.fixture.js';

const ROOT = join(import.meta.dirname, '../../..');

describe('the client library on the platform', () => {
  let platform: PlatformUnderTest;
  let tenant: Tenant;
  let client: Client;

  beforeAll(async () => {
    platform = await journeyPlatform();
    tenant = await platform.tenant();
    client = createClient({ baseUrl: platform.url, credentials: tenant.adminKey });
  }, START_WITHIN_MS);

  const aContact = async (external_id: string) =>
    (await client.POST('/v1/core/contacts', { body: { external_id } })).data;
  const one = ({ id }: { id: string }) => ({ params: { path: { id } } });

  it('runs the programs of its README', async () => {
    const { adminKey } = await platform.tenant();
    const readme = await readFile(join(ROOT, 'libs/client/README.md'), 'utf8');
    const program = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code).join('\n');
    // Within node_modules, so that the package is found by its name, and nothing else looks at it.
    const folder = await mkdtemp(join(ROOT, 'node_modules/.cache/client-readme-'));
    try {
      await writeFile(join(folder, 'readme.mjs'), program);
      const env = { API_URL: platform.url, API_KEY: adminKey };
      const { stdout } = await promisify(execFile)(process.execPath, ['readme.mjs'], { cwd: folder, env });
      expect(stdout.trim().split('\n')).toEqual([
        'Created Ana',
        'Is a contact already: true',
        'Has ana@example.com',
        'Refused: etag_mismatch',
        'Posted once: true',
        'Merged into nobody',
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('walks a list of several pages', async () => {
    const names = Array.from({ length: 7 }, (_, n) => `walked-${String(n)}`);
    await Promise.all(names.map(aContact));
    const query = { limit: 2, sort: 'created_at', 'external_id[in]': names };
    const found = [];
    for await (const { external_id } of client.items('/v1/core/contacts', { params: { query } }))
      found.push(external_id);
    expect(found.sort()).toEqual(names);
  });

  it('finds values that hold a comma or a percent sign', async () => {
    const names = ['a,b', '100%', '%2C', 'c'];
    await Promise.all(names.map(aContact));
    const query = { 'external_id[in]': names };
    const { data } = await client.GET('/v1/core/contacts', { params: { query } });
    expect(data.data.map(({ external_id }) => external_id).sort()).toEqual(names.sort());
  });

  it('follows a merged contact, and says into whom', async () => {
    const [kept, merged] = [await aContact('kept'), await aContact('merged')];
    await client.POST('/v1/core/contacts/merge', { body: { survivor_id: kept.id, merged_id: merged.id } });
    const { data, mergedInto } = await client.GET('/v1/core/contacts/{id}', one(merged));
    expect([data.id, mergedInto]).toEqual([kept.id, kept.id]);
    // A module that is too busy for its turn is named, and asked again.
    await eventually(async () => {
      const answer = await client.GET('/v1/crm/contacts/{id}/timeline', one(merged));
      expect([answer.mergedInto, answer.data.unreachable]).toEqual([kept.id, []]);
    });
  });

  it('tells every field at fault and what support needs', async () => {
    const body = { email: 'none', timezone: 'Nowhere/Never' };
    const error = await client.POST('/v1/core/contacts', { body }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProblemError);
    const { code, errors, correlationId } = error as ProblemError;
    expect(code).toBe('validation_failed');
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(
      expect.arrayContaining(['/email', '/timezone']),
    );
    expect(correlationId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('comes through the end of a key with the next one', async () => {
    const first = await platform.keyWith(tenant, ['core.contacts.read']);
    const second = await platform.keyWith(tenant, ['core.contacts.read']);
    const asked: boolean[] = [];
    const changing = createClient({
      baseUrl: platform.url,
      credentials: ({ renew }) => {
        asked.push(renew);
        return renew ? second.key : first.key;
      },
    });
    await changing.GET('/v1/core/contacts');
    await client.DELETE('/v1/identity/api-keys/{id}', one(first));
    await eventually(async () => {
      await changing.GET('/v1/core/contacts');
      expect(asked).toContain(true);
    });
  });

  it('posts once although its answer was lost', async () => {
    const contact = await aContact('lost-answer');
    let lost = 0;
    const unlucky = createClient({
      baseUrl: platform.url,
      credentials: tenant.adminKey,
      retry: { firstWaitMs: 1 },
      fetch: async (request) => {
        const response = await fetch(request);
        if (lost++ > 0) return response;
        await response.body?.cancel();
        throw new TypeError('terminated');
      },
    });
    const body = { body: 'Called back', contact_id: contact.id };
    const { replayed, data } = await unlucky.POST('/v1/crm/notes', { body });
    expect([lost, replayed]).toEqual([2, true]);
    const query = { contact_id: contact.id };
    const { data: notes } = await client.GET('/v1/crm/notes', { params: { query } });
    expect(notes.data.map(({ id }) => id)).toEqual([data.id]);
  });
});
