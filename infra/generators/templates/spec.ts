import { isFilter, type Field } from '../field.ts';
import type { Resource } from '../resource.ts';
import type { AppWiring } from '../wiring.ts';

/** Longer than every number that the behaviour suite counts up to. */
const DIGITS = 5;

/** A string that fits shorter fields too, with the name of the field where there is room for it. */
function sample({ name, max }: Field, number: string): string {
  if (max > name.length + DIGITS) return `\`${name} \${${number}}\``;
  return max >= DIGITS ? `String(${number})` : `String((${number}) % ${10 ** max})`;
}

function valueOf(field: Field, number: string): string {
  switch (field.type) {
    case 'string':
      return sample(field, number);
    case 'integer':
      return number;
    case 'boolean':
      return `${number} % 2 === 1`;
    case 'time':
      return `new Date(Date.UTC(2026, 0, ${number})).toISOString()`;
  }
}

/** One that can be changed without colliding, if there is one. */
function changeable(fields: readonly Field[]): Field | undefined {
  const mutable = fields.filter(({ immutable }) => !immutable);
  return mutable.find(({ unique, type }) => !unique && type !== 'boolean') ?? mutable[0];
}

/** [pointer, code, value] of every refusal that a field can cause. */
function refusals({ name, type, max, optional }: Field): [string, string][] {
  const wrong: [string, string][] =
    type === 'time' ? [['invalid_format', `'yesterday'`]] : [['wrong_type', '{}']];
  if (type === 'string') wrong.push(['too_short', `''`], ['too_long', `'x'.repeat(${max + 1})`]);
  if (type === 'integer') wrong.push(['out_of_range', '2_147_483_648']);
  if (!optional) wrong.push(['required', 'undefined']);
  return wrong.map(([code, value]) => [`'/${name}', '${code}'`, `{ ${name}: ${value} }`]);
}

function optionalTests({ module, plural, singularClass, fields }: Resource): string {
  const optional = fields.filter((field) => field.optional);
  if (optional.length === 0) return '';
  const absent = optional.map(({ name }) => `${name}: undefined`).join(', ');
  const nulls = optional.map(({ name }) => `${name}: null`).join(', ');
  return `
  it('answers null for what is not given, and for what is cleared', async () => {
    const caller = aCaller();
    const without = await caller.post<${singularClass}Dto>('/v1/${module}/${plural}', { ...aBody(1), ${absent} });
    expectStatus(without, 201);
    expect(without.body).toMatchObject({ ${nulls} });
    const given = await caller.post<${singularClass}Dto>('/v1/${module}/${plural}', aBody(2));
    const cleared = await caller.patch(\`/v1/${module}/${plural}/\${given.body.id}\`, { ${nulls} });
    expectStatus(cleared, 200);
    expect(cleared.body).toMatchObject({ ${nulls} });
  });
`;
}

function filterTests({ module, plural, singularClass, fields }: Resource): string {
  const names = fields.filter(isFilter).map(({ name }) => `'${name}'`);
  if (names.length === 0) return '';
  return `
describe('GET /v1/${module}/${plural}', () => {
  it.each([${names.join(', ')}] as const)('filters by %s', async (field) => {
    const caller = aCaller();
    const [first] = [
      await caller.post<${singularClass}Dto>('/v1/${module}/${plural}', aBody(1)),
      await caller.post<${singularClass}Dto>('/v1/${module}/${plural}', aBody(2)),
    ];
    const query = new URLSearchParams({ [field]: String(first.body[field]) });
    const { body } = await caller.get<{ data: ${singularClass}Dto[] }>(\`/v1/${module}/${plural}?\${query.toString()}\`);
    expect(body.data).toEqual([first.body]);
  });
});
`;
}

function immutableTests({ module, plural, singularClass, fields }: Resource): string {
  const immutable = fields.filter((field) => field.immutable);
  if (immutable.length === 0) return '';
  return `
describe('PATCH /v1/${module}/${plural}/{id}', () => {
  it.each([${immutable.map(({ name }) => `'${name}'`).join(', ')}])('400 immutable for %s, the same value too', async (field) => {
    const caller = aCaller();
    const { body } = await caller.post<${singularClass}Dto>('/v1/${module}/${plural}', aBody(1));
    const given = { [field]: body[field as keyof ${singularClass}Dto] };
    const answer = await caller.patch(\`/v1/${module}/${plural}/\${body.id}\`, given);
    const problem = expectProblem(answer, 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: \`/\${field}\`, code: 'immutable' })]);
  });
});
`;
}

function eventTests({ module, plural, singularClass, fields, event }: Resource): string {
  if (!event) return '';
  const names = JSON.stringify(fields.map(({ name }) => name).sort()).replaceAll('"', `'`);
  return `
describe('${event.family} events', () => {
  it('tell of a new one by the names of its fields', async () => {
    const probe = kafkaProbe(app);
    probe.collect('${module}');
    const organizationId = anOrganization().id;
    const caller = app.as(organizationId, Object.values(PERMISSIONS));
    const { body } = await caller.post<${singularClass}Dto>('/v1/${module}/${plural}', aBody(1));
    const [event] = await probe.expectEvents('${event.family}.created.v1', organizationId, 1);
    expect(event?.data.id).toBe(body.id);
    expect([...(event?.data.changed ?? [])].sort()).toEqual(${names});
  });
});
`;
}

/** `activity-types.controller.spec.ts` */
export function specTemplate(resource: Resource, wiring: AppWiring): string {
  const { module, plural, singular, singularClass, fields, permissions } = resource;
  const changed = changeable(fields);
  const unique = fields.find((field) => field.unique);
  const { moduleClass, migrationsFile, migrationsName } = wiring;
  return `import { connectEventBus } from '@customer-platform/event-bus';
import {
  anOrganization, expectProblem, expectStatus, itBehavesLikeASoftDeletableResource,
  ${resource.event ? 'kafkaProbe,' : ''} startTestApp, testDatabase, type Caller, type TestApp, type TestDatabase,
} from '@customer-platform/testing';
import { ${migrationsName} } from '../migrations/${migrationsFile}.js';
import { ${moduleClass} } from '../${module}.module.js';
import type { ${singularClass}Dto } from './${singular}.dto.js';

const PERMISSIONS = {
  read: '${permissions.read}',
  create: '${permissions.create}',
  update: '${permissions.update}',
  delete: '${permissions.delete}',
  purge: '${permissions.purge}',
} as const;

let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await testDatabase('${module}', ${migrationsName});
  app = await startTestApp({ module: '${module}', root: ${moduleClass}, database, connect: connectEventBus });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const aBody = (number: number) => ({ ${fields.map((field) => `${field.name}: ${valueOf(field, 'number')}`).join(', ')} });
const aCaller = (): Caller => app.as(anOrganization().id, Object.values(PERMISSIONS));

itBehavesLikeASoftDeletableResource({
  app: () => app,
  path: '/v1/${module}/${plural}',
  permissions: PERMISSIONS,
  body: aBody,
  patch: (number) => ({ ${changed ? `${changed.name}: ${valueOf(changed, changed.type === 'boolean' ? '(number + 1)' : 'number + 1_000')}` : ''} }),
  ${unique ? `unique: '${unique.name}',` : ''}
});

describe('POST /v1/${module}/${plural}', () => {
  it('answers what was given', async () => {
    const answer = await aCaller().post<${singularClass}Dto>('/v1/${module}/${plural}', aBody(1));
    expectStatus(answer, 201);
    expect(answer.body).toMatchObject(aBody(1));
  });

  it.each([
    ${fields
      .flatMap(refusals)
      .map(([names, override]) => `[${names}, ${override}],`)
      .join('\n    ')}
  ])('400: %s %s', async (pointer, code, override) => {
    const answer = await aCaller().post('/v1/${module}/${plural}', { ...aBody(1), ...override });
    const problem = expectProblem(answer, 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });
${optionalTests(resource)}});
${filterTests(resource)}${immutableTests(resource)}${eventTests(resource)}`;
}
