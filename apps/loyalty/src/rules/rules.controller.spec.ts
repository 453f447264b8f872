import {
  anOrganization,
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
  type TestApp,
} from '@customer-platform/testing';
import { aRuleBody, startLoyalty } from '../loyalty.fixture.js';
import type { RuleDto } from './rule.dto.js';

let app: TestApp;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, close } = await startLoyalty());
});
afterAll(() => close());

itBehavesLikeASoftDeletableResource({
  app: () => app,
  path: '/v1/loyalty/rules',
  permissions: {
    read: 'loyalty.rules.read',
    create: 'loyalty.rules.create',
    update: 'loyalty.rules.update',
    delete: 'loyalty.rules.delete',
    purge: 'loyalty.rules.purge',
  },
  body: (number) => aRuleBody({ name: `Rule ${number}` }),
  patch: (number) => ({ max_per_event: number }),
  unique: 'name',
});

const rules = () =>
  app.as(anOrganization().id, ['loyalty.rules.create', 'loyalty.rules.read', 'loyalty.rules.update']);

describe('POST /v1/loyalty/rules', () => {
  it('fills in the defaults', async () => {
    const answer = await rules().post<RuleDto>('/v1/loyalty/rules', aRuleBody());
    expectStatus(answer, 201);
    expect(answer.body).toMatchObject({
      conditions: [],
      formula: {
        type: 'per_amount',
        amount_property: 'amount',
        currency_property: 'currency',
        currency: 'CLP',
        per: 1000,
        points: 1,
        rounding: 'floor',
      },
      max_per_event: null,
      max_per_contact: null,
      valid_to: null,
      expires_after_days: null,
      enabled: true,
      version: 1,
    });
    expect(Date.parse(answer.body.valid_from)).toBeLessThanOrEqual(Date.parse(answer.body.created_at));
  });

  it.each([
    ['/formula/type', { formula: { type: 'magic' } }],
    ['/formula/points', { formula: { type: 'fixed', points: 0 } }],
    ['/formula/points', { formula: { type: 'fixed', points: 1.5 } }],
    ['/formula/extra', { formula: { type: 'fixed', points: 1, extra: 1 } }],
    ['/formula/currency', { formula: { type: 'per_amount', per: 1, points: 1 } }],
    ['/formula/per', { formula: { type: 'per_amount', currency: 'CLP', per: 0, points: 1 } }],
    ['/conditions/0/property', { conditions: [{ property: 'a.b.c.d.e.f', op: 'eq', value: 1 }] }],
    ['/conditions/0/op', { conditions: [{ property: 'a', op: 'like', value: 1 }] }],
    ['/conditions/0/value', { conditions: [{ property: 'a', op: 'in', value: [] }] }],
    ['/conditions/0/value', { conditions: [{ property: 'a', op: 'eq' }] }],
    ['/conditions', { conditions: Array.from({ length: 21 }, () => ({ property: 'a', op: 'exists' })) }],
    ['/max_per_contact/period', { max_per_contact: { points: 1, period: 'week' } }],
    [
      '/max_per_contact/timezone',
      { max_per_contact: { points: 1, period: 'day', timezone: 'Mars/Olympus' } },
    ],
    ['/valid_to', { valid_from: '2026-01-02T00:00:00Z', valid_to: '2026-01-02T00:00:00Z' }],
    ['/max_per_event', { max_per_event: 0 }],
    ['/expires_after_days', { expires_after_days: 3651 }],
    ['/name', { name: '' }],
    ['/name', { name: 'n'.repeat(101) }],
    ['/event', { event: '' }],
    ['/event', { event: 'e'.repeat(201) }],
    ['/formula/points', { formula: { type: 'per_amount', currency: 'CLP', per: 1, points: 1_000_001 } }],
    [
      '/formula/rounding',
      { formula: { type: 'per_amount', currency: 'CLP', per: 1, points: 1, rounding: 'up' } },
    ],
    ['/max_per_event', { max_per_event: 1_000_000_001 }],
    ['/expires_after_days', { expires_after_days: 0 }],
    ['/evnt', { evnt: 'purchase_completed' }],
  ])('400 with a pointer to %s', async (pointer, overrides) => {
    const problem = expectProblem(
      await rules().post('/v1/loyalty/rules', aRuleBody(overrides)),
      400,
      'validation_failed',
    );
    expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
  });

  it('201 at the limits of its fields', async () => {
    const body = {
      name: 'n'.repeat(100),
      event: 'e'.repeat(200),
      conditions: Array.from({ length: 20 }, () => ({ property: 'a.b.c.d.e', op: 'exists', value: true })),
      formula: { type: 'per_amount', currency: 'CLP', per: 1, points: 1_000_000, rounding: 'ceil' },
      max_per_event: 1_000_000_000,
      max_per_contact: { points: 1, period: 'lifetime', timezone: 'Pacific/Kiritimati' },
      expires_after_days: 3_650,
    };
    const answer = await rules().post<RuleDto>('/v1/loyalty/rules', body);
    expectStatus(answer, 201);
    expect(answer.body).toMatchObject(body);
  });

  it('409 limit_reached beyond 200 active rules', async () => {
    const caller = rules();
    for (let made = 0; made < 200; made += 8) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => caller.post('/v1/loyalty/rules', aRuleBody())),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
    }
    expectProblem(await caller.post('/v1/loyalty/rules', aRuleBody()), 409, 'limit_reached');
  });
});

describe('PATCH /v1/loyalty/rules/{id}', () => {
  it('makes a version of everything but the name, and keeps the old ones readable', async () => {
    const caller = rules();
    const { body: rule } = await caller.post<RuleDto>('/v1/loyalty/rules', aRuleBody());
    const at = `/v1/loyalty/rules/${rule.id}`;
    const renamed = await caller.patch<RuleDto>(at, { name: 'Another name' });
    expect(renamed.body).toMatchObject({ version: 1, name: 'Another name' });
    const merged = await caller.patch<RuleDto>(at, { formula: { points: 2 } });
    expect(merged.body).toMatchObject({ version: 2, formula: { type: 'per_amount', points: 2, per: 1000 } });
    const replaced = await caller.patch<RuleDto>(at, { formula: { type: 'fixed', points: 5 } });
    expect(replaced.body).toMatchObject({ version: 3, formula: { type: 'fixed', points: 5 } });
    const first = await caller.get<RuleDto>(`${at}?version=1`);
    expect(first.body).toMatchObject({ version: 1, formula: { points: 1 } });
    expectProblem(await caller.get(`${at}?version=4`), 404, 'not_found');
    expectProblem(await caller.get(`${at}?version=0`), 400, 'validation_failed');
  });
});

describe('GET /v1/loyalty/rules', () => {
  it('filters by event, enabled and the beginning of a name, and sorts by name and times', async () => {
    const caller = rules();
    const made: RuleDto[] = [];
    for (const overrides of [
      { name: 'Bread', event: 'sold' },
      { name: 'Butter', event: 'sold', enabled: false },
      { name: 'Cheese', event: 'eaten' },
    ]) {
      made.push((await caller.post<RuleDto>('/v1/loyalty/rules', aRuleBody(overrides))).body);
    }
    await caller.patch(`/v1/loyalty/rules/${String(made[0]?.id)}`, { max_per_event: 9 });
    for (const [query, names] of [
      ['sort=name', ['Bread', 'Butter', 'Cheese']],
      ['event=sold&sort=-name', ['Butter', 'Bread']],
      ['event[in]=sold,eaten&sort=created_at', ['Bread', 'Butter', 'Cheese']],
      ['enabled=false', ['Butter']],
      ['enabled=true&sort=name', ['Bread', 'Cheese']],
      ['name[prefix]=B&sort=-updated_at', ['Bread', 'Butter']],
      ['name=Cheese', ['Cheese']],
      ['name[prefix]=b%25', []],
    ] as const) {
      const answer = await caller.get<{ data: RuleDto[] }>(`/v1/loyalty/rules?${query}`);
      expectStatus(answer, 200);
      expect([query, answer.body.data.map(({ name }) => name)]).toEqual([query, names]);
    }
  });
});
