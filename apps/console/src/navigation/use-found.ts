import { ProblemError, type Client } from '@customer-platform/client';
import { useQueries } from '@tanstack/react-query';
import { useApi } from '../api/api.tsx';
import type { Messages } from 'use-intl';
import { namesOfContact } from '../people/use-people.ts';
import { useMay, usePerson } from '../session/use-session.tsx';
import { isId } from '../ui/search-params.ts';
import { isRutBegun, phonesIn, rutIn } from './typed.ts';

/** A thing that the search has found. */
export interface Found {
  id: string;
  label: string;
  /** A hint that tells it from others of its name. */
  hint?: string | undefined;
  /** Its address within the organization. */
  path: string;
}

export type Kind = keyof Messages['navigation']['kinds'];

interface Finder {
  kind: Kind;
  permission: string;
  /** Left out where what is typed can be none of these. */
  takes?: (typed: string) => boolean;
  find: (api: Client, typed: string, signal: AbortSignal) => Promise<readonly Found[]>;
}

const SHOWN = 6;
const STANDS_MS = 10_000;
const SHORTEST = 2;

/** The beginning of every key, and how much of one the platform shows. */
const KEY_MARK = 'cpk_live_';
const KEY_PREFIX = 13;

const nameless = (typed: string): boolean => !isId(typed);

/** The kinds in the order in which they are shown. */
const FINDERS: readonly Finder[] = [
  { kind: 'contact', permission: 'core.contacts.read', find: findContacts },
  {
    kind: 'nationalId',
    permission: 'core.contacts.read_national_id',
    takes: (typed) => rutIn(typed) !== undefined,
    find: findByRut,
  },
  { kind: 'chain', permission: 'core.events.read', takes: isKey, find: findChains },
  { kind: 'deadLetter', permission: 'core.jobs.read', takes: isId, find: findDeadLetters },
  {
    kind: 'segment',
    permission: 'core.segments.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'name[prefix]': typed, limit: SHOWN };
      const { data } = await api.GET('/v1/core/segments', { params: { query }, signal });
      return asFound(data.data, (id) => `segments/${id}`);
    },
  },
  {
    kind: 'list',
    permission: 'crm.lists.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'name[prefix]': typed, limit: SHOWN };
      const { data } = await api.GET('/v1/crm/lists', { params: { query }, signal });
      return asFound(data.data, (id) => `contacts/lists?open=${id}`);
    },
  },
  {
    kind: 'template',
    permission: 'messaging.templates.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'name[prefix]': typed, limit: SHOWN };
      const { data } = await api.GET('/v1/messaging/templates', { params: { query }, signal });
      return asFound(data.data, (id) => `messages/templates/${id}`);
    },
  },
  {
    kind: 'campaign',
    permission: 'messaging.campaigns.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'name[prefix]': typed, limit: SHOWN };
      const { data } = await api.GET('/v1/messaging/campaigns', { params: { query }, signal });
      return asFound(data.data, (id) => `messages/campaigns?open=${id}`);
    },
  },
  {
    kind: 'loyaltyRule',
    permission: 'loyalty.rules.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'name[prefix]': typed, limit: SHOWN };
      const { data } = await api.GET('/v1/loyalty/rules', { params: { query }, signal });
      return asFound(data.data, (id) => `loyalty/rules?open=${id}`);
    },
  },
  {
    kind: 'routing',
    permission: 'messaging.routing.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'name[prefix]': typed, limit: SHOWN };
      const { data } = await api.GET('/v1/messaging/event-routing', { params: { query }, signal });
      return asFound(data.data, (id) => `messages/routing?open=${id}`);
    },
  },
  {
    kind: 'object',
    permission: 'crm.objects.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'name[prefix]': typed, limit: SHOWN };
      const { data } = await api.GET('/v1/crm/object-definitions', { params: { query }, signal });
      const slugs = new Map(data.data.map(({ id, slug }) => [id, slug]));
      return asFound(data.data, (id) => `objects/${slugs.get(id) ?? id}`);
    },
  },
  { kind: 'user', permission: 'identity.users.read', takes: nameless, find: findUsers },
  { kind: 'key', permission: 'identity.api_keys.read', takes: nameless, find: findKeys },
  {
    kind: 'endpoint',
    permission: 'messaging.webhooks.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'name[prefix]': typed, limit: SHOWN };
      const { data } = await api.GET('/v1/messaging/webhook-endpoints', { params: { query }, signal });
      const endpoints = data.data.map((endpoint) => ({ ...endpoint, hint: endpoint.url }));
      return asFound(endpoints, (id) => `developers/webhooks?open=${id}`);
    },
  },
  {
    kind: 'senderDomain',
    permission: 'messaging.domains.read',
    takes: nameless,
    find: async (api, typed, signal) => {
      const query = { 'domain[prefix]': typed.toLowerCase(), limit: SHOWN };
      const { data } = await api.GET('/v1/messaging/sender-domains', { params: { query }, signal });
      const domains = data.data.map(({ id, domain }) => ({ id, name: domain }));
      return asFound(domains, (id) => `messages/sender-domains?open=${id}`);
    },
  },
];

/** The state of the search as a whole. */
export interface Search {
  kinds: { kind: Kind; found: readonly Found[] }[];
  /** Kinds that did not answer. */
  silent: Kind[];
  busy: boolean;
}

/** Finds things by what is typed, each kind by itself: one that does not answer hides no other. */
export function useFound(typed: string): Search {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  const only = onlyKindOf(typed);
  const asked = FINDERS.filter(
    ({ kind, permission, takes }) =>
      may(permission) && takes?.(typed) !== false && (only === undefined || kind === only),
  );
  const enabled = typed.length >= SHORTEST;
  const answers = useQueries({
    queries: asked.map(({ kind, find }) => ({
      queryKey: [organization.id, 'palette', kind, typed],
      enabled,
      staleTime: STANDS_MS,
      gcTime: STANDS_MS,
      // To come back to the tab asks for nothing: a look-up is on record each time.
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (failures: number, error: unknown) => !(error instanceof ProblemError) && failures < 2,
      queryFn: ({ signal }: { signal: AbortSignal }) => find(api, typed, signal),
    })),
  });
  const each = asked.map(({ kind }, at) => ({ kind, answer: answers[at] }));
  return {
    kinds: each.map(({ kind, answer }) => ({ kind, found: answer?.data ?? [] })),
    silent: each.filter(({ answer }) => answer?.isError === true).map(({ kind }) => kind),
    busy: enabled && answers.some(({ isLoading }) => isLoading),
  };
}

/** Names the one kind that may be asked for a text which stands in no other address, as servers keep those. */
function onlyKindOf(typed: string): Kind | undefined {
  // The look-up takes it in a body, which no server keeps.
  if (isRutBegun(typed)) return 'nationalId';
  return typed.includes(KEY_MARK) ? 'key' : undefined;
}

/** Contacts by the beginnings of their words, by a number as people write it, by any identity as a whole, or by id. */
async function findContacts(api: Client, typed: string, signal: AbortSignal): Promise<readonly Found[]> {
  const phones = phonesIn(typed);
  const queries = isId(typed)
    ? [{ id: typed }, ...identitiesOf(typed)]
    : phones.length > 0
      ? [...phones, typed].map((q) => ({ q }))
      : [{ q: typed }, ...(/\s/.test(typed) ? [] : identitiesOf(typed))];
  const answers = await Promise.all(
    queries.map((query) =>
      api.GET('/v1/core/contacts', { params: { query: { ...query, limit: SHOWN } }, signal }),
    ),
  );
  const contacts = new Map(answers.flatMap(({ data }) => data.data.map((each) => [each.id, each] as const)));
  return [...contacts.values()].slice(0, SHOWN).map((contact) => {
    const { name, address } = namesOfContact(contact);
    const other = address ?? contact.id;
    return {
      id: contact.id,
      label: name ?? other,
      hint: name === undefined ? undefined : other,
      path: `contacts/${contact.id}`,
    };
  });
}

/** The look-up of a national id, on a platform that has the route; an older one says that it has none. */
type LookUp = (path: string, asked: object) => Promise<{ data: { contact_id: string | null } }>;

/** Finds whose a RUT is: each look-up is on record, so that only a whole one with its figure of control is looked up. */
async function findByRut(api: Client, typed: string, signal: AbortSignal): Promise<readonly Found[]> {
  const national_id = { type: 'CL_RUT', value: rutIn(typed) ?? typed };
  const lookUp = api.POST as unknown as LookUp;
  const { data } = await lookUp('/v1/core/contacts/lookup', { body: { national_id }, signal });
  const { contact_id: id } = data;
  return id === null ? [] : findContacts(api, id, signal);
}

/** An identity with its type, as the API writes it. */
const IDENTITY = /^(external_id|email|phone|anonymous_id|device_id|custom\.[a-z0-9][a-z0-9_-]{0,59}):./;

/** Identities that no search by words finds: as a whole, with their type or without. */
function identitiesOf(typed: string) {
  if (IDENTITY.test(typed)) return [{ identity: typed }];
  return (['anonymous_id', 'device_id'] as const).map((type) => ({ identity: `${type}:${typed}` }));
}

/** A correlation id, or the key that a sender gave an event. */
function isKey(typed: string): boolean {
  return isId(typed) || (typed.length >= 8 && /^\S+$/.test(typed) && /[\d_-]/.test(typed));
}

/** Finds what one event led to, by its correlation id or its idempotency key. */
async function findChains(api: Client, typed: string, signal: AbortSignal): Promise<readonly Found[]> {
  const queries = [...(isId(typed) ? [{ correlation_id: typed }] : []), { idempotency_key: typed }];
  const answers = await Promise.all(
    queries.map((query) => api.GET('/v1/core/events', { params: { query: { ...query, limit: 1 } }, signal })),
  );
  const events = answers.flatMap(({ data }) => data.data);
  const chains = new Map(events.map((event) => [event.correlation_id, event]));
  return [...chains.values()].map(({ id, event, type, contact_id, correlation_id, external_id }) => ({
    id,
    label: event ?? type,
    hint: external_id,
    path: `contacts/${contact_id}?open=${correlation_id}`,
  }));
}

/** Finds what failed of an event, by its id or its correlation id. */
async function findDeadLetters(api: Client, typed: string, signal: AbortSignal): Promise<readonly Found[]> {
  const answers = await Promise.all(
    [{ event_id: typed }, { correlation_id: typed }].map((query) =>
      api.GET('/v1/core/dead-letters', { params: { query: { ...query, limit: 1 } }, signal }),
    ),
  );
  const letters = new Map(
    answers.flatMap(({ data }) => data.data.map((letter) => [letter.event_id, letter] as const)),
  );
  return [...letters.values()].map(({ event_id: id, code, external_id }) => ({
    id,
    label: code,
    hint: external_id ?? undefined,
    path: `developers/dead-letters?open=${id}`,
  }));
}

/** Finds keys by name, or one by its beginning, which says nothing of its secret: more of it is asked for nowhere. */
async function findKeys(api: Client, typed: string, signal: AbortSignal): Promise<readonly Found[]> {
  const at = typed.indexOf(KEY_MARK);
  const prefix = typed.slice(at, at + KEY_PREFIX);
  if (at !== -1 && prefix.length < KEY_PREFIX) return [];
  const query = {
    ...(at === -1 ? { 'name[prefix]': typed } : { prefix }),
    limit: SHOWN,
  };
  const { data } = await api.GET('/v1/identity/api-keys', { params: { query }, signal });
  const keys = data.data.map((key) => ({ ...key, hint: `${key.prefix}…` }));
  return asFound(keys, (id) => `developers/keys?open=${id}`);
}

async function findUsers(api: Client, typed: string, signal: AbortSignal): Promise<readonly Found[]> {
  const query = {
    ...(typed.includes('@') ? { email: typed.toLowerCase() } : { 'name[prefix]': typed }),
    limit: SHOWN,
  };
  const { data } = await api.GET('/v1/identity/users', { params: { query }, signal });
  const users = data.data.map((user) => ({ ...user, hint: user.email }));
  return asFound(users, (id) => `organization/people?open=${id}`);
}

interface Named {
  id: string;
  name: string;
  hint?: string;
}

function asFound(items: readonly Named[], pathOf: (id: string) => string): Found[] {
  return items.map(({ id, name, hint }) => ({ id, label: name, hint, path: pathOf(id) }));
}
