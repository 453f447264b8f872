import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Caller, PlatformUnderTest } from '@customer-platform/testing';
import {
  asJson,
  edgesOf,
  filtersOf,
  isDocumented,
  type FurtherEdges,
  type Place,
  type Written,
} from './edges.fixture.js';
import { valueIn } from './edge-bodies.fixture.js';
import type { EdgeWorld } from './edge-world.fixture.js';

/** What came of a value in a place. */
export interface Outcome {
  readonly place: string;
  readonly value: string;
  readonly status: number;
  readonly said: string;
}

const TRIES = 50;

/** The name of a place, as it stands in tables. */
export const nameOf = ({ method, path, at, field }: Place): string =>
  `${method} ${path} ${at === 'query' ? '?' : ''}${field.join('.')}`;

/** What takes no edge at all, and why: each is filled all the same, and never answered by a 5xx. */
const TAKES_NONE: readonly (readonly [place: RegExp, why: string])[] = [
  [/\?cursor$/, 'a cursor that a list has issued: their specs'],
  [/mfa\/verify /, 'what a factor shows: its spec'],
  [/invitations\/accept |password-resets\/confirm |unsubscribe |^\w+ \/oauth/, 'a token that was given'],
  [/PATCH \/v1\/core\/contacts\/\{id\} external_id$/, 'set once'],
  [/organizations settings\.member_jwks/, 'set by the organization itself'],
  [/objects\/\{slug\} \?values$/, 'each field is asked for by its name'],
];

/** Fills places with edges of their types and notes what came of it. */
export class EdgeWalk {
  readonly outcomes: Outcome[] = [];
  /** Answers of the wrong kind, and what was taken and then could not be read. */
  readonly faults: string[] = [];

  constructor(
    private readonly world: EdgeWorld,
    private readonly further: FurtherEdges,
  ) {}

  /** Every edge of a place, or those that `chosen` takes. */
  async visit(place: Place, chosen: (value: unknown, at: number) => boolean = () => true): Promise<void> {
    const usual = this.usualIn(place);
    const edges = edgesOf(place.field.at(-1) ?? '', place.schema, this.further).filter(chosen);
    for (const value of [...(usual === undefined ? [] : [usual]), ...edges])
      await (place.at === 'body' ? this.fill(place, value) : this.ask(place, value));
  }

  /** What the route takes there without further ado. */
  private usualIn(place: Place): unknown {
    const { schema, at, field } = place;
    const [name = ''] = field;
    const own =
      at === 'body' ? valueIn(this.bodyWith({ ...place, at: 'query' }), field) : this.asked(place)[name];
    return own ?? schema.default ?? schema.example;
  }

  /** What a query must say besides, or says where nothing else is asked. */
  private asked({ method, path }: Place): Record<string, string> {
    const { world } = this;
    const contact_id = world.id('/v1/core/contacts');
    const queries: Readonly<Record<string, Record<string, string>>> = {
      'GET /v1/messaging/templates/{id}/diff': { from: '1', to: '1' },
      'GET /v1/messaging/templates/{id}': { version: '1' },
      'GET /v1/loyalty/rules/{id}': { version: '1' },
      'GET /v1/core/segments/{id}/explain': { contact_id },
      'GET /v1/loyalty/transactions': { contact_id },
      'DELETE /v1/crm/lists/{id}/members': { contact_id },
      'DELETE /v1/core/contacts/{id}/identities': { type: 'anonymous_id', value: 'nobody' },
      'DELETE /v1/messaging/suppressions': { channel: 'email', address: 'nobody@example.com' },
      'DELETE /v1/identity/memberships': { user_id: randomUUID() },
      'DELETE /v1/identity/role-assignments': { membership_id: randomUUID(), role_id: randomUUID() },
    };
    return queries[`${method} ${path}`] ?? {};
  }

  /** How much was tried. */
  get figures(): string {
    const places = new Set(this.outcomes.map(({ place }) => place)).size;
    const taken = this.outcomes.filter(({ status }) => status < 300).length;
    return `${String(this.outcomes.length)} values in ${String(places)} places, ${String(taken)} of them taken`;
  }

  private async fill(place: Place, value: unknown): Promise<void> {
    const body = this.bodyWith(place, value);
    const path = this.world.pathOf(place);
    const answer = await this.call(place, path, asJson(body));
    this.note(place, value, answer);
    if (answer.status < 200 || answer.status > 299) return;
    await this.readBack(place, value, answer.body as Record<string, unknown>);
  }

  /** What was stored is shown, is found by what it says, and goes. */
  private async readBack(place: Place, value: unknown, stored: Record<string, unknown>): Promise<void> {
    const { id } = stored;
    const item = place.path.endsWith('}') ? place.path : `${place.path}/{id}`;
    if (typeof id !== 'string') return;
    const caller = this.world.callerOf(place);
    const own = this.world
      .pathOf(place)
      .replace(/\/[^/]*$/, (last) => (place.path.endsWith('{id}') ? '' : last));
    if (isDocumented('GET', item)) {
      const { status } = await this.patiently(() => caller.get(`${own}/${id}`));
      if (status !== 200) this.fault(place, value, `stored, then read as ${String(status)}`);
    }
    // What others change meanwhile says something else by now.
    if (place.method === 'POST')
      await this.findAgain(place, value, { own, id, shown: stored[place.field.join('.')] });
    if (place.method === 'POST' && isDocumented('DELETE', item)) {
      const { status } = await this.patiently(() => caller.delete(`${own}/${id}`));
      if (status >= 500) this.fault(place, value, `stored, then deleted as ${String(status)}`);
    }
  }

  private async findAgain(
    place: Place,
    value: unknown,
    { own, id, shown }: { own: string; id: string; shown: unknown },
  ): Promise<void> {
    const collection = place.path.replace(/\/\{id\}$/, '');
    const [field = ''] = place.field;
    const filters = filtersOf(collection);
    const isPlain = typeof shown === 'string' || typeof shown === 'number' || typeof shown === 'boolean';
    if (place.field.length > 1 || !filters.includes(field) || !isPlain) return;
    const asked = new URLSearchParams({ [field]: String(shown), limit: '200' });
    if (filters.includes('id')) asked.set('id', id);
    if (filters.includes('view')) asked.set('view', 'history');
    const answer = await this.patiently(() =>
      this.world.admin.get<{ data?: { id: string }[] }>(`${own}?${asked.toString()}`),
    );
    if (answer.status !== 200)
      return this.fault(place, value, `stored, then filtered as ${String(answer.status)} ${textOf(answer)}`);
    const { data = [] } = answer.body;
    if (!data.some((one) => one.id === id) && data.length < 200)
      this.fault(place, value, 'stored, then not found by what it says');
  }

  private async ask(place: Place, value: unknown): Promise<void> {
    const [name = ''] = place.field;
    const given = [value].flat().map((one) => inQuery(one));
    const query = new URLSearchParams(this.asked(place));
    query.set(name, given.join(','));
    if (name === 'before_id') query.set('before_occurred_at', '2026-01-01T00:00:00Z');
    if (name === 'before_occurred_at') query.set('before_id', randomUUID());
    // Half of a pair is written as three bytes that no UTF-8 has.
    const text = query.toString().replaceAll('%EF%BF%BD', '%ED%A0%80');
    const body =
      place.method === 'GET' || place.method === 'DELETE' ? undefined : asJson(this.bodyWith(place));
    this.note(place, value, await this.call(place, `${this.world.pathOf(place)}?${text}`, body));
  }

  private bodyWith(place: Place, value?: unknown): Record<string, unknown> {
    const { method, example, at } = place;
    const body = structuredClone(
      this.world.bodyOf(place, place.field) ?? (method === 'PATCH' ? {} : example) ?? {},
    ) as Record<string, unknown>;
    if (at === 'body') place.field.slice(0, -1).reduce(memberOf, body)[place.field.at(-1) ?? ''] = value;
    return body;
  }

  private call(place: Place, path: string, bytes: string | undefined): Promise<Answer<unknown>> {
    const caller: Caller = this.world.callerOf(place);
    return this.patiently(() => {
      const headers: Record<string, string> =
        bytes === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
      return caller.call(place.method, path, bytes === undefined ? {} : { bytes, headers });
    });
  }

  /** Asks again where there was no room, or another module had not heard yet. */
  private async patiently<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
    let answer = await ask();
    for (let tries = 0; (answer.status === 429 || answer.status === 503) && tries < TRIES; tries += 1) {
      await pause(50);
      answer = await ask();
    }
    return answer;
  }

  private note(place: Place, value: unknown, answer: Answer<unknown>): void {
    const said = answer.status < 300 ? '' : textOf(answer);
    this.outcomes.push({ place: nameOf(place), value: shown(value), status: answer.status, said });
    if (answer.status >= 500) this.fault(place, value, `${String(answer.status)} ${said}`);
  }

  /**
   * Places of which no value was taken. What is there already, or is not there to be removed, was right in form.
   */
  neverTaken(): string[] {
    const taken = new Set<string>();
    for (const { place, status } of this.outcomes)
      if (status < 300 || status === 409 || (status === 404 && place.startsWith('DELETE'))) taken.add(place);
    return [...new Set(this.outcomes.map(({ place }) => place))].filter(
      (place) => !taken.has(place) && !TAKES_NONE.some(([form]) => form.test(place)),
    );
  }

  private fault(place: Place, value: unknown, what: string): void {
    this.faults.push(`${nameOf(place)} = ${shown(value)}: ${what}`);
  }
}

function memberOf(outer: Record<string, unknown>, name: string): Record<string, unknown> {
  const inner = outer[name];
  if (Array.isArray(inner) && typeof inner[0] === 'object') return inner[0] as Record<string, unknown>;
  if (typeof inner !== 'object' || inner === null) outer[name] = {};
  return outer[name] as Record<string, unknown>;
}

function inQuery(value: unknown): string {
  if (typeof value === 'string') return value;
  return String((value as Written | null)?.text ?? JSON.stringify(value));
}

const shown = (value: unknown): string => {
  const text = asJson(value) ?? '';
  return text.length > 60 ? `${text.slice(0, 50)}… (${String(text.length)})` : text;
};

const textOf = ({ body }: Answer<unknown>): string => JSON.stringify(body).slice(0, 300);

/** Four at once: two instances of anything would have as much to do. */
const AT_ONCE = 4;

/** Visits all of them. */
export async function walkAll(
  walk: EdgeWalk,
  places: readonly Place[],
  chosen?: (value: unknown, at: number) => boolean,
): Promise<void> {
  const left = [...places];
  const visitor = async (): Promise<void> => {
    for (let place = left.shift(); place; place = left.shift()) await walk.visit(place, chosen);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, visitor));
}

/** Zones that Node knows and PostgreSQL does not, and the reverse. */
export async function zonesOfOneSide(platform: PlatformUnderTest): Promise<string[]> {
  const rows = await platform.query<{ name: string }>('core', 'SELECT name FROM pg_timezone_names');
  const there = new Set(rows.map(({ name }) => name));
  const here = new Set(Intl.supportedValuesOf('timeZone'));
  const ofNode = [...here].filter((name) => !there.has(name));
  const ofDatabase = [...there].filter((name) => !isKnownHere(name));
  return [...ofNode, ...ofDatabase, 'Etc/Unknown', 'posixrules'];
}

function isKnownHere(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false; // Node has no such zone
  }
}
