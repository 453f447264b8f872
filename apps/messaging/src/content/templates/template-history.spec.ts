import type { Caller } from '@customer-platform/testing';
import { messagingWorld, template, type MessagingWorld } from '../../messaging.fixture.js';

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

describe('versions of a template', () => {
  const TEXTS = [
    { es: { subject: 'One', html: '<p>a</p>\n<p>b</p>\n<p>c</p>' }, en: { subject: 'One', text: 'x' } },
    { es: { subject: 'Two', html: '<p>a</p>\n<p>B</p>\n<p>c</p>' }, pt: { subject: 'Um', text: 'y' } },
  ];

  async function withTwo(api: Caller): Promise<string> {
    const id = await template(api, { locales: TEXTS[0] });
    await api.patch(`${TEMPLATES}/${id}`, {
      locales: { ...TEXTS[1], en: null },
      variables: { order: { type: 'string' } },
      publish: false,
    });
    return id;
  }

  it('are listed, newest first, and read with what they said', async () => {
    const { api } = world.organization();
    const id = await withTwo(api);
    expect((await api.get(`${TEMPLATES}/${id}/versions`)).body).toMatchObject({
      data: [
        { version: 2, published: false, default_locale: 'es' },
        { version: 1, published: true, default_locale: 'es' },
      ],
      page: { next_cursor: null },
    });
    const first = await api.get<{ page: { next_cursor: string } }>(`${TEMPLATES}/${id}/versions?limit=1`);
    const rest = await api.get(
      `${TEMPLATES}/${id}/versions?limit=1&cursor=${encodeURIComponent(first.body.page.next_cursor)}`,
    );
    expect(rest.body).toMatchObject({ data: [{ version: 1 }] });
    expect((await api.get<Shown>(`${TEMPLATES}/${id}?version=1`)).body).toMatchObject({
      version: 1,
      published_version: 1,
      locales: TEXTS[0],
    });
    expect((await api.get<Shown>(`${TEMPLATES}/${id}`)).body).toMatchObject({
      version: 2,
      locales: TEXTS[1],
    });
  });

  it('differ by field and line', async () => {
    const { api } = world.organization();
    const id = await withTwo(api);
    expect((await api.get(`${TEMPLATES}/${id}/diff?from=1&to=2`)).body).toEqual({
      from: 1,
      to: 2,
      changes: [
        {
          pointer: '/locales/en/subject',
          kind: 'removed',
          unified: expect.stringContaining('-One') as string,
        },
        { pointer: '/locales/en/text', kind: 'removed', unified: expect.stringContaining('-x') as string },
        {
          pointer: '/locales/es/html',
          kind: 'changed',
          unified: expect.stringContaining(' <p>a</p>\n-<p>b</p>\n+<p>B</p>\n <p>c</p>') as string,
        },
        {
          pointer: '/locales/es/subject',
          kind: 'changed',
          unified: expect.stringContaining('+Two') as string,
        },
        { pointer: '/locales/pt/subject', kind: 'added', unified: expect.stringContaining('+Um') as string },
        { pointer: '/locales/pt/text', kind: 'added', unified: expect.stringContaining('+y') as string },
        {
          pointer: '/variables/order',
          kind: 'added',
          unified: expect.stringContaining('"string"') as string,
        },
      ],
    });
    expect((await api.get(`${TEMPLATES}/${id}/diff?from=2&to=2`)).body).toEqual({
      from: 2,
      to: 2,
      changes: [],
    });
  });

  it('are said to differ where they are too different to be told line by line', async () => {
    const { api } = world.organization();
    const lines = (of: string): string =>
      Array.from({ length: 25_000 }, (_, line) => `${of}${(line * 7_919) % 25_000}`).join('\n');
    const of = (name: string) => ({ es: { subject: 'a', text: lines(name) } });
    const id = await template(api, { locales: of('a') });
    expect((await api.patch(`${TEMPLATES}/${id}`, { locales: of('b') })).status).toBe(200);
    const neighbour = withTwo(api);
    expect((await api.get(`${TEMPLATES}/${id}/diff?from=1&to=2`)).body).toMatchObject({
      changes: [{ pointer: '/locales/es/text', kind: 'changed', unified: null }],
    });
    expect((await api.get(`${TEMPLATES}/${await neighbour}/diff?from=1&to=2`)).status).toBe(200);
  });

  it('are said to differ where they are too long to be read, beside what is short', async () => {
    const { id: organizationId, api } = world.organization();
    const id = await template(api, { locales: { es: { subject: 'One', text: 'x' } } });
    await world.database.query(
      `INSERT INTO template_versions (organization_id, template_id, version, channel, default_locale, locales, parts, created_at)
       SELECT organization_id, template_id, version + more, channel, default_locale,
              (SELECT jsonb_object_agg('l' || n, jsonb_build_object('subject', 's' || more, 'text', repeat('x' || more, 100000)))
                 FROM generate_series(1, 30) AS n) || locales, parts, created_at
         FROM template_versions, generate_series(1, 2) AS more WHERE organization_id = $1`,
      [organizationId],
    );
    const { body } = await api.get<{ changes: { pointer: string; unified: string | null }[] }>(
      `${TEMPLATES}/${id}/diff?from=2&to=3`,
    );
    expect(body.changes).toHaveLength(60);
    const silent = body.changes.filter(({ unified }) => unified === null).map(({ pointer }) => pointer);
    expect(silent.length).toBeGreaterThanOrEqual(20);
    expect(silent.filter((pointer) => !pointer.endsWith('/text'))).toEqual([]);
    expect((await api.get(`${TEMPLATES}/${id}/diff?from=3&to=3`)).body).toMatchObject({ changes: [] });
  });

  it.each([
    ['?version=9', 'version', 'out_of_range'],
    ['?version=x', 'version', 'invalid_format'],
    ['?version=0', 'version', 'invalid_format'],
    ['/diff?from=1', 'to', 'required'],
    ['/diff?from=1&to=9', 'to', 'out_of_range'],
    ['/diff?from=1e9&to=1', 'from', 'invalid_format'],
    ['/diff?from=9&to=1', 'from', 'out_of_range'],
  ])('400 for %s', async (query, parameter, code) => {
    const { api } = world.organization();
    const answer = await api.get(`${TEMPLATES}/${await template(api)}${query}`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ parameter, code }] } });
  });

  it('are not there for another organization, nor without the permission', async () => {
    const { id: organizationId, api } = world.organization();
    const id = await withTwo(api);
    const other = world.organization().api;
    const unable = world.app.as(organizationId, ['messaging.sends.read']);
    for (const path of ['?version=1', '/versions', '/diff?from=1&to=2']) {
      expect((await other.get(`${TEMPLATES}/${id}${path}`)).status).toBe(404);
      expect((await unable.get(`${TEMPLATES}/${id}${path}`)).status).toBe(403);
    }
  });
});
