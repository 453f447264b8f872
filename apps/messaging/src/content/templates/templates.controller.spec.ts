import { randomUUID } from 'node:crypto';
import { itBehavesLikeASoftDeletableResource, type Caller } from '@customer-platform/testing';
import {
  aSend,
  aTemplate,
  messagingWorld,
  send,
  template,
  type MessagingWorld,
} from '../../messaging.fixture.js';

const TEMPLATES = '/v1/messaging/templates';

interface Shown {
  id: string;
  version: number;
  published_version: number | null;
  locales: Record<string, Record<string, string>>;
}

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());

describe('templates', () => {
  itBehavesLikeASoftDeletableResource({
    app: () => world.app,
    path: TEMPLATES,
    permissions: {
      read: 'messaging.templates.read',
      create: 'messaging.templates.create',
      update: 'messaging.templates.update',
      delete: 'messaging.templates.delete',
      purge: 'messaging.templates.purge',
    },
    body: (number) => aTemplate({ name: `Template ${number}` }),
    patch: (number) => ({ locales: { es: { subject: `Asunto ${number}` } } }),
    unique: 'name',
  });
});

describe('POST /v1/messaging/templates', () => {
  it.each([
    [{ locales: { es: { subject: '{{ unclosed', html: '<p>x</p>' } } }, '/locales/es/subject'],
    [{ locales: { es: { subject: 'x', html: '{% include "x" %}' } } }, '/locales/es/html'],
    [{ locales: { es: { subject: 'x', html: '{{ data.x | raw }}' } } }, '/locales/es/html'],
    [{ locales: { es: { subject: 'x', text: '{% if %}' } } }, '/locales/es/text'],
  ])('422 template_invalid for %j', async (content, pointer) => {
    const { api } = world.organization();
    const answer = await api.post<{ code: string; errors: { pointer: string; code: string }[] }>(
      TEMPLATES,
      aTemplate(content),
    );
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'template_invalid', errors: [{ pointer, code: 'template_invalid' }] },
    });
  });

  it.each([
    ['\n<mj-section><mj-foo /></mj-section>', /^Line 2: .*mj-foo/],
    ['<mj-section><mj-column><mj-text>{{ unclosed</mj-text></mj-column></mj-section>', /unclosed/],
    ['{% if data.a %}<mj-section />{% endif %}', /`mj-raw`/],
  ])('422 template_invalid with the line for the MJML %s', async (body, detail) => {
    const { api } = world.organization();
    const es = { subject: 'x', mjml: `<mjml><mj-body>${body}</mj-body></mjml>` };
    const error = { pointer: '/locales/es/mjml', code: 'template_invalid' };
    expect(await api.post(TEMPLATES, aTemplate({ locales: { es } }))).toMatchObject({
      status: 422,
      body: {
        code: 'template_invalid',
        errors: [{ ...error, detail: expect.stringMatching(detail) as string }],
      },
    });
    const { pointer, ...rest } = { ...error, pointer: '/content/mjml' };
    const sending = await api.post('/v1/messaging/sends', aSend({ content: es }), {
      'idempotency-key': randomUUID(),
    });
    expect(sending).toMatchObject({ status: 422, body: { errors: [{ pointer, ...rest }] } });
  });

  it('400 not_allowed for MJML beside HTML', async () => {
    const { api } = world.organization();
    const es = { subject: 'x', html: 'x', mjml: '<mjml><mj-body /></mjml>' };
    expect(await api.post(TEMPLATES, aTemplate({ locales: { es } }))).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/locales/es/mjml', code: 'not_allowed' }] },
    });
  });

  it('takes a template of each channel', async () => {
    const { api } = world.organization();
    const parts = {
      sms: { text: 'x' },
      push: { title: 't', body: 'b' },
      in_app: { title: 't', body: 'b', url: 'https://a.example' },
      whatsapp: { text: 'x' },
    };
    for (const [channel, es] of Object.entries(parts)) {
      expect((await api.post(TEMPLATES, aTemplate({ channel, locales: { es } }))).status).toBe(201);
    }
  });
});

describe('GET /v1/messaging/templates', () => {
  it('finds those that are named by their ids', async () => {
    const { api } = world.organization();
    const [one, other] = [await template(api), await template(api)];
    await template(api);
    const { body } = await api.get<{ data: Shown[] }>(`${TEMPLATES}?id[in]=${one},${other}`);
    expect(body.data.map(({ id }) => id).sort()).toEqual([one, other].sort());
  });

  it('finds those whose name begins so, ignoring case; a name as a whole is the very name', async () => {
    const { api } = world.organization();
    const id = await template(api, { name: 'Welcome' });
    await template(api, { name: 'Receipt' });
    const found = async (query: string): Promise<string[]> =>
      (await api.get<{ data: Shown[] }>(`${TEMPLATES}?${query}`)).body.data.map((each) => each.id);
    expect(await found('name[prefix]=wEL')).toEqual([id]);
    expect(await found('name=Welcome')).toEqual([id]);
    expect(await found('name=welcome')).toEqual([]);
  });
});

describe('PATCH /v1/messaging/templates/{id}', () => {
  async function change(api: Caller, id: string, patch: object): Promise<Shown> {
    const answer = await api.patch<Shown>(`${TEMPLATES}/${id}`, patch);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  }

  it('400 out_of_range for a version beyond what is counted to', async () => {
    const { api } = world.organization();
    const answer = await api.patch(`${TEMPLATES}/${await template(api)}`, { published_version: 6.7e307 });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/published_version', code: 'out_of_range' }] },
    });
  });

  it('makes a version of each change of the content, drafts and rolls back', async () => {
    const { api } = world.organization();
    const id = await template(api);
    expect(await change(api, id, { name: 'Another name' })).toMatchObject({
      version: 1,
      published_version: 1,
    });
    expect(await change(api, id, { locales: { es: { subject: 'Two' } } })).toMatchObject({
      version: 2,
      published_version: 2,
    });
    expect(await change(api, id, { strict: false, publish: false })).toMatchObject({
      version: 3,
      published_version: 2,
    });
    expect(await change(api, id, { publish: true })).toMatchObject({ version: 3, published_version: 3 });
    expect(await change(api, id, { published_version: 1 })).toMatchObject({
      version: 3,
      published_version: 1,
    });
    const unknown = await api.patch(`${TEMPLATES}/${id}`, { published_version: 9 });
    expect(unknown).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/published_version', code: 'out_of_range' }] },
    });
    const versions = await world.database.query(
      'SELECT version FROM template_versions WHERE template_id = $1 ORDER BY 1',
      [id],
    );
    expect(versions.map(({ version }) => version)).toEqual([1, 2, 3]);
  });

  it('writes an earlier content anew, and sends it at once or as a draft', async () => {
    const { api } = world.organization();
    const id = await template(api, { locales: { es: { subject: 'One', html: '<p>1</p>' } } });
    const second = { es: { subject: 'Two', html: '<p>2</p>' }, en: { subject: 'Two', text: '2' } };
    await change(api, id, { locales: second, strict: false });
    expect(await change(api, id, { revert_to: 1 })).toMatchObject({
      version: 3,
      published_version: 3,
      locales: { es: { subject: 'One', html: '<p>1</p>' } },
    });
    expect(await change(api, id, { revert_to: 2, publish: false })).toMatchObject({
      version: 4,
      published_version: 3,
      locales: second,
      strict: false,
    });
    // What is the newest content already makes no version; it is published all the same.
    expect(await change(api, id, { revert_to: 2 })).toMatchObject({ version: 4, published_version: 4 });
    const compiled = await world.database.query<{ parts: unknown }>(
      `SELECT jsonb_agg(part ORDER BY locale, part) AS parts FROM template_versions,
              jsonb_each(parts) AS each (locale, list), jsonb_array_elements(list) AS part
        WHERE template_id = $1 GROUP BY version ORDER BY version`,
      [id],
    );
    expect([compiled[2], compiled[3]]).toEqual([compiled[0], compiled[1]]);
  });

  it.each([
    [{ revert_to: 7 }, 'revert_to', 'out_of_range'],
    [{ revert_to: 0 }, 'revert_to', 'out_of_range'],
    [{ revert_to: 1, strict: false }, 'strict', 'not_allowed'],
    [{ revert_to: 1, published_version: 1 }, 'published_version', 'not_allowed'],
  ])('400 for %j', async (patch, field, code) => {
    const { api } = world.organization();
    const answer = await api.patch(`${TEMPLATES}/${await template(api)}`, patch);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: `/${field}`, code }] } });
  });

  it('takes a locale away, but not the default one', async () => {
    const { api } = world.organization();
    const id = await template(api, {
      locales: { es: { subject: 'a', text: 'b' }, en: { subject: 'a', text: 'b' } },
    });
    expect(Object.keys((await change(api, id, { locales: { en: null } })).locales)).toEqual(['es']);
    const refused = await api.patch(`${TEMPLATES}/${id}`, {
      locales: { es: null, pt: { subject: 'a', text: 'b' } },
    });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/default_locale' }] } });
  });

  it('never changes the channel', async () => {
    const { api } = world.organization();
    const answer = await api.patch(`${TEMPLATES}/${await template(api)}`, { channel: 'sms' });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/channel', code: 'immutable' }] },
    });
  });

  it('loses no version when several change at once', async () => {
    const { api } = world.organization();
    const id = await template(api);
    const changes = await Promise.all(
      Array.from({ length: 4 }, (_, n) =>
        api.patch<Shown>(`${TEMPLATES}/${id}`, { locales: { es: { subject: `S${n}` } } }),
      ),
    );
    const versions = changes.filter(({ status }) => status === 200).map(({ body }) => body.version);
    expect(new Set(versions).size).toBe(versions.length);
    expect((await api.get<Shown>(`${TEMPLATES}/${id}`)).body.version).toBe(1 + versions.length);
  });
});

describe('DELETE /v1/messaging/templates/{id}/purge', () => {
  it('409 while an unfinished send uses it', async () => {
    const { api } = world.organization();
    const id = await template(api);
    const later = new Date(Date.now() + 3_600_000).toISOString();
    await send(api, aSend({ template_id: id, content: undefined, not_before: later }));
    await api.delete(`${TEMPLATES}/${id}`);
    const answer = await api.delete(`${TEMPLATES}/${id}/purge`);
    expect(answer).toMatchObject({
      status: 409,
      body: {
        code: 'resource_referenced',
        references: [{ module: 'messaging', resource: 'sends', count: 1 }],
      },
    });
  });
});
