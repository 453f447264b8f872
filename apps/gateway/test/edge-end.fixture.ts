import { eventually, MODULES, type Answer } from '@customer-platform/testing';
import { done } from './credentials.fixture.js';
import { asJson, documentedLists, edgesOf, type FurtherEdges, type Schema } from './edges.fixture.js';
import type { EdgeWorld } from './edge-world.fixture.js';

const SETTLED = { within: 120_000, every: 250 };
const text = (maxLength: number): Schema => ({ type: 'string', minLength: 1, maxLength });

/** Columns of an import, each with what it takes. */
const COLUMNS: Readonly<Record<string, Schema>> = {
  ...{
    external_id: text(200),
    email: text(254),
    phone: text(40),
    first_name: text(100),
    last_name: text(100),
  },
  ...{
    birth_date: { type: 'string', format: 'date' },
    locale: text(35),
    timezone: text(64),
    country: text(2),
  },
  ...{ 'attributes.a_string': text(300), 'attributes.a_integer': { type: 'integer' } },
  ...{ 'attributes.a_number': { type: 'number' }, 'attributes.a_boolean': { type: 'boolean' } },
  'attributes.a_date': { type: 'string', format: 'date' },
  'attributes.a_datetime': { type: 'string', format: 'date-time' },
};
/**
 * Imports a row for each edge of each column, as CSV and as JSON lines.
 * @returns what was not refused or taken for what it is
 */
export async function importEdges(world: EdgeWorld, further: FurtherEdges): Promise<string[]> {
  const rows = Object.entries(COLUMNS).flatMap(([column, schema], at) =>
    edgesOf(column, schema, further).map((value, place) => ({
      ...(column === 'external_id' ? {} : { external_id: `row-${String(at)}-${String(place)}` }),
      [column]: value,
    })),
  );
  const names = Object.keys(COLUMNS);
  const cell = (value: unknown): string => {
    const bare = value === undefined ? '' : typeof value === 'string' ? value : asJson(value);
    return `"${bare.replaceAll('"', '""')}"`;
  };
  const csv = [
    names.join(','),
    ...rows.map((row) => names.map((name) => cell((row as Record<string, unknown>)[name])).join(',')),
  ];
  const faults = await Promise.all([
    importFile(world, 'csv', csv.join('\n')),
    importFile(world, 'jsonl', rows.map((row) => asJson(row)).join('\n')),
  ]);
  return faults.flat();
}

async function importFile({ admin }: EdgeWorld, format: string, file: string): Promise<string[]> {
  const form = new FormData();
  const mapping = Object.fromEntries(Object.keys(COLUMNS).map((column) => [column, column]));
  form.append('options', JSON.stringify({ format, mapping }));
  form.append('file', new Blob([file]), `edges.${format}`);
  const sent = new Response(form);
  const bytes = new Uint8Array(await sent.arrayBuffer());
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' };
  const { id } = await done<{ id: string }>(admin.call('POST', '/v1/core/imports', { bytes, headers }));
  interface Import {
    state: string;
    rows: Record<string, number>;
  }
  const { state, rows } = await eventually(async () => {
    const body = await done<Import>(admin.get(`/v1/core/imports/${id}`));
    if (!['completed', 'failed'].includes(body.state))
      throw new Error(`${format} is ${JSON.stringify(body)}`);
    return body;
  }, SETTLED);
  const broken = await done<{ errors: { data: object[] } }>(
    admin.get(`/v1/core/imports/${id}?code=internal_error`),
  );
  const faults = broken.errors.data.map((error) => `${format}: ${JSON.stringify(error)}`);
  if (state !== 'completed' || !rows['created']) faults.push(`${format}: ${state} ${JSON.stringify(rows)}`);
  return faults;
}

/** What the platform did with what it took, once it is quiet: @returns all that was not done */
export async function settle(world: EdgeWorld): Promise<string[]> {
  await quiet(world);
  return [
    ...(await unheard(world)),
    ...(await unread(world)),
    ...(await rebuilt(world)),
    ...(await leaving(world)),
  ];
}

async function quiet({ admin }: EdgeWorld): Promise<void> {
  await eventually(async () => {
    const { totals } = await done<{ totals: { events: Record<string, number> } }>(
      admin.get('/v1/core/usage'),
    );
    const { accepted = 0, stored = 0, duplicates = 0, dead_lettered = 0, pending } = totals.events;
    if (pending !== 0 || stored + duplicates + dead_lettered !== accepted)
      throw new Error(`not quiet: ${JSON.stringify(totals.events)}`);
  }, SETTLED);
}

/** Events that a consumer could not take, and dead letters that nobody foresaw. */
export async function unheard({ platform, tenant, admin }: EdgeWorld): Promise<string[]> {
  const faults: string[] = [];
  for (const module of MODULES) {
    const rows = await platform.query<{ said: string }>(
      module,
      `SELECT DISTINCT consumer || ' ' || event_type || ' ' || left(error, 200) AS said FROM parked_events
        WHERE organization_id = $1`,
      [tenant.id],
    );
    faults.push(...rows.map(({ said }) => `parked by ${module}: ${said}`));
  }
  const path = '/v1/core/dead-letters?code[in]=internal_error,evaluation_failed&limit=200';
  const { data } = await done<{ data: { stage: string; detail: string }[] }>(admin.get(path));
  return [...faults, ...data.map(({ stage, detail }) => `dead letter of ${stage}: ${detail}`)];
}

interface ListPage {
  page?: { next_cursor: string | null };
  errors?: object;
}

/** Every list, page by page to its end. */
async function unread(world: EdgeWorld): Promise<string[]> {
  const faults: string[] = [];
  for (const list of documentedLists()) {
    const authorization = list.includes('/members/me') ? 'member_token' : undefined;
    const caller = world.callerOf({ path: list, authorization });
    const path = `${world.pathOf({ path: list, field: [] })}?limit=200`;
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < 200; pages += 1) {
      const { status, body }: Answer<ListPage> = await caller.get<ListPage>(
        cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
      );
      if (status !== 200) faults.push(`GET ${list}: ${String(status)} ${JSON.stringify(body).slice(0, 200)}`);
      cursor = status === 200 ? (body.page?.next_cursor ?? null) : null;
    }
  }
  return faults;
}

/** A segment that reads all that was written, from nothing. */
async function rebuilt({ admin }: EdgeWorld): Promise<string[]> {
  const rule = {
    any: [
      { attribute: 'created_at', op: 'within_last', value: 'P1D' },
      { not: { attribute: 'birth_date', op: 'gte', value: '2000-01-01' } },
      { event: 'looked', where: [{ property: 'n', op: 'gt', value: 1 }] },
    ],
  };
  const { id } = await done<{ id: string }>(admin.post('/v1/core/segments', { name: 'All of them', rule }));
  return eventually(async () => {
    const { data } = await done<{ data: object[] }>(admin.get(`/v1/core/segments/${id}/members`));
    if (data.length === 0) throw new Error('nobody is in the segment yet');
    return [];
  }, SETTLED);
}

/** The contact that everything was written of is handed out, and goes. */
async function leaving(world: EdgeWorld): Promise<string[]> {
  const contact_id = world.id('/v1/core/contacts');
  const verification = { method: 'clave_unica', reference: 'edges' };
  const faults: string[] = [];
  for (const type of ['access', 'erasure']) {
    const asked = await world.admin.post<{ id: string; conflicting_id?: string }>(
      '/v1/core/subject-requests',
      {
        ...{ type, contact_id, verification },
      },
    );
    const id = asked.status === 409 ? asked.body.conflicting_id : asked.body.id;
    const path = `/v1/core/subject-requests/${id ?? ''}`;
    await world.admin.patch(path, { verification });
    try {
      await eventually(async () => {
        const { body } = await world.admin.get<{ state: string }>(path);
        if (body.state !== 'completed') throw new Error(JSON.stringify(body));
      }, SETTLED);
    } catch (error) {
      faults.push(`${type}: ${String(error).slice(0, 400)}`);
    }
  }
  return faults;
}
