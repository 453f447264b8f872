import { Clock } from '@customer-platform/database';
import type { Caller } from '@customer-platform/testing';
import { COUNTRY_CODES } from '../vocabulary/contacts/country-codes.js';
import { CORE_PERMISSIONS, startCore, type TestCore } from '../core.fixture.js';
import { COUNTRIES, CURRENCIES, NOTIFICATION_CHANNELS } from './catalogs.service.js';

interface Entry extends Record<string, unknown> {
  code: string;
}

interface Listed {
  data: Entry[];
  page: { limit: number; next_cursor: string | null };
}

const entries = <E>(catalog: Readonly<Record<string, E>>): [string, E][] => Object.entries(catalog);
const DATE = /^\d{4}-\d{2}-\d{2}$/;

describe('the vendored catalogs', () => {
  it.each([
    ['CLP', 0],
    ['COP', 2],
    ['KWD', 3],
    ['BHD', 3],
    ['JPY', 0],
    ['USD', 2],
    ['CLF', 4],
    ['UYW', 4],
    ['XAU', null],
    ['XAG', null],
    ['XDR', null],
  ])('gives %s the exponent of ISO 4217: %s', (code, exponent) => {
    expect(CURRENCIES[code]?.exponent).toBe(exponent);
  });

  it('knows what has come and what has ended', () => {
    expect(CURRENCIES['XCG']).toMatchObject({
      valid_to: null,
      valid_from: '2025-03-31',
      countries: ['CW', 'SX'],
    });
    expect(CURRENCIES['ANG']).toMatchObject({ valid_to: '2025-03-31', countries: [] });
    expect(CURRENCIES['BGN']).toMatchObject({ valid_to: '2026-01-31', countries: [] });
    expect(CURRENCIES['EUR']?.countries).toEqual(expect.arrayContaining(['BG', 'HR', 'VA', 'DE']));
    expect(CURRENCIES['CLF']?.kind).toBe('fund');
    expect(CURRENCIES['XPT']?.kind).toBe('metal');
  });

  it('holds the 249 countries in force, those by which contacts are checked', () => {
    const inForce = entries(COUNTRIES).filter(([, { valid_to }]) => valid_to === null);
    expect(inForce.map(([code]) => code)).toEqual([...COUNTRY_CODES].sort());
    expect(inForce).toHaveLength(249);
    expect(COUNTRIES['CL']).toMatchObject({
      alpha3: 'CHL',
      numeric_code: '152',
      calling_codes: ['+56'],
      currencies: ['CLF', 'CLP'],
    });
    expect(COUNTRIES['AN']).toMatchObject({ valid_to: '2010-12-15' });
  });

  it('is well-formed, and countries and currencies say the same of each other', () => {
    for (const [code, entry] of [...entries(CURRENCIES), ...entries(COUNTRIES)]) {
      expect(entry.name.es).toMatch(/\p{L}/u);
      expect(entry.name.en).toMatch(/\p{L}/u);
      if (entry.valid_from !== null) expect(entry.valid_from).toMatch(DATE);
      if (entry.valid_to !== null) expect(entry.valid_to).toMatch(DATE);
      if (entry.valid_from !== null && entry.valid_to !== null)
        expect(`${code} ${entry.valid_from}` <= `${code} ${entry.valid_to}`).toBe(true);
      if (entry.numeric_code !== null) expect(entry.numeric_code).toMatch(/^\d{3}$/);
    }
    const used = entries(COUNTRIES).flatMap(([country, { currencies }]) =>
      currencies.map((code) => `${country} ${code}`),
    );
    const inUse = entries(CURRENCIES).flatMap(([code, { countries }]) =>
      countries.map((country) => `${country} ${code}`),
    );
    expect([...inUse].sort()).toEqual([...used].sort());
    expect(inUse.length).toBeGreaterThan(249);
    for (const [code] of entries(CURRENCIES)) expect(code).toMatch(/^[A-Z]{3}$/);
  });

  it('gives every country its own alpha-3 and, where it is in force, its own number', () => {
    const alpha3 = entries(COUNTRIES).map(([, entry]) => entry.alpha3);
    expect(new Set(alpha3).size).toBe(alpha3.length);
    const inForce = entries(COUNTRIES).filter(([, { valid_to }]) => valid_to === null);
    expect(new Set(inForce.map(([, entry]) => entry.numeric_code)).size).toBe(249);
  });

  it('holds the channels of messaging', () => {
    expect(Object.keys(NOTIFICATION_CHANNELS).sort()).toEqual(['email', 'in_app', 'push', 'sms', 'whatsapp']);
  });
});

describe('GET /v1/core/{catalog}', () => {
  let core: TestCore;
  let caller: Caller;
  let organizationId: string;

  beforeAll(async () => {
    core = await startCore();
    organizationId = core.anOrganization().id;
    caller = core.app.as(organizationId, ['core.catalogs.read']);
  });
  afterAll(() => core.close());

  const codes = async (path: string) =>
    (await caller.get<Listed>(`/v1/core/${path}`)).body.data.map(({ code }) => code);

  it.each([
    ['currencies', ['numeric_code', 'exponent', 'kind', 'countries']],
    ['countries', ['alpha3', 'numeric_code', 'calling_codes', 'currencies']],
    ['national-id-types', ['country', 'subject', 'check', 'pattern']],
    ['notification-channels', ['address_kind']],
  ])('lists %s by code', async (catalog, fields) => {
    const { status, body } = await caller.get<Listed>(`/v1/core/${catalog}`);
    expect(status).toBe(200);
    expect(body.data.length).toBeGreaterThan(4);
    expect(body.data.map(({ code }) => code)).toEqual(body.data.map(({ code }) => code).sort());
    for (const entry of body.data) {
      expect(Object.keys(entry).sort()).toEqual(['code', 'name', 'valid_from', 'valid_to', ...fields].sort());
    }
  });

  it.each(['code', '-code'])('walks the countries page by page by %s, each once', async (sort) => {
    const walked: string[] = [];
    let cursor = '';
    do {
      const { body } = await caller.get<Listed>(`/v1/core/countries?limit=37&sort=${sort}${cursor}`);
      walked.push(...body.data.map(({ code }) => code));
      cursor = body.page.next_cursor === null ? '' : `&cursor=${body.page.next_cursor}`;
    } while (cursor);
    const expected = [...COUNTRY_CODES].sort();
    expect(walked).toEqual(sort === 'code' ? expected : expected.reverse());
  });

  it('shows what was valid on a date, today unless it is given', async () => {
    expect(await codes('currencies?valid_on=2020-01-01&limit=200')).toContain('ANG');
    expect(await codes('countries?valid_on=2005-01-01&limit=200')).toEqual(
      expect.arrayContaining(['AN', 'CS']),
    );
    expect(await codes('countries?valid_on=2005-01-01&limit=200&sort=-code')).not.toContain('RS');
    expect(await codes('currencies?limit=200')).not.toContain('ANG');
    expect(await codes('currencies?valid_on=any&limit=200')).toContain('ANG');
    expect(await codes('currencies?valid_on=2026-01-31&limit=200')).toContain('BGN');
    expect(await codes('currencies?valid_on=2026-02-01&limit=200')).not.toContain('BGN');
  });

  it('takes the day from the clock', async () => {
    const clock = core.app.app.get(Clock);
    clock.now = () => new Date('2025-03-31T23:59:59.999Z');
    try {
      expect(await codes('currencies?limit=200')).toContain('ANG');
    } finally {
      // The method of the class again.
      Reflect.deleteProperty(clock, 'now');
    }
    expect(await codes('currencies?limit=200')).not.toContain('ANG');
  });

  it.each([
    ['valid_on=yesterday', 'invalid_filter'],
    ['valid_on=2026-02-30', 'invalid_filter'],
    ['valid_on=', 'invalid_filter'],
    ['name=Chile', 'unknown_parameter'],
    ['sort=name', 'invalid_sort'],
    ['limit=0', 'invalid_limit'],
    ['cursor=x', 'invalid_cursor'],
  ])('400 for ?%s: %s', async (query, code) => {
    expect(await caller.get(`/v1/core/countries?${query}`)).toMatchObject({ status: 400, body: { code } });
  });

  it('400 cursor_mismatch for a cursor of another date', async () => {
    const { body } = await caller.get<Listed>('/v1/core/countries?limit=2');
    const answer = await caller.get(
      `/v1/core/countries?limit=2&valid_on=any&cursor=${body.page.next_cursor ?? ''}`,
    );
    expect(answer).toMatchObject({ status: 400, body: { code: 'cursor_mismatch' } });
  });

  it.each(['currencies', 'countries', 'national-id-types', 'notification-channels'])(
    'asks for the permission to read %s',
    async (catalog) => {
      const rest = CORE_PERMISSIONS.filter((permission) => permission !== 'core.catalogs.read');
      const { caller: without } = core.anOrganization(rest);
      expect(await without.get(`/v1/core/${catalog}`)).toMatchObject({
        status: 403,
        body: { code: 'permission_denied' },
      });
    },
  );
});
