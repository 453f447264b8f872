// The calls of `npm run load -- management`, by the route that each is of. Read by k6, and by Node to tell which routes
// of core they leave out. `s` is the sample: ids and values that are there.
const CONTACTS = '/v1/core/contacts';
const EVENTS = '/v1/core/events';

const pick = (list, n) => list[n % list.length];
const list = (route, name, path) => ({ name, route: `GET ${route}`, path });

/** Lists and single reads, each as often as the others. */
export const READS = [
  list(CONTACTS, 'contacts page 1', () => `${CONTACTS}?limit=50`),
  list(CONTACTS, 'contacts page 2000', (s) => s.deepContacts),
  list(CONTACTS, 'contacts by email', (s, n) => `${CONTACTS}?email=${pick(s.contacts, n).email}`),
  list(
    CONTACTS,
    'contacts by external_id',
    (s, n) => `${CONTACTS}?external_id=${pick(s.contacts, n).external_id}`,
  ),
  list(
    CONTACTS,
    'contacts by phone',
    (s, n) => `${CONTACTS}?phone=${encodeURIComponent(pick(s.contacts, n).phone)}`,
  ),
  list(
    CONTACTS,
    'contacts by identity',
    (s, n) => `${CONTACTS}?identity=external_id:${pick(s.contacts, n).external_id}`,
  ),
  list(
    CONTACTS,
    'contacts by last_name',
    (s, n) => `${CONTACTS}?last_name=${encodeURIComponent(pick(s.contacts, n).last_name)}`,
  ),
  list(CONTACTS, 'contacts by country', (s, n) => `${CONTACTS}?country=${pick(['CL', 'AR', 'PE'], n)}`),
  list(
    CONTACTS,
    'contacts by country and name sorted',
    () => `${CONTACTS}?country=AR&last_name=Soto&sort=-updated_at`,
  ),
  list(CONTACTS, 'contacts seen since', (s) => `${CONTACTS}?last_seen_at[gte]=${s.recent}`),
  list(CONTACTS, 'contacts by last_seen_at', () => `${CONTACTS}?sort=-last_seen_at`),
  list(CONTACTS, 'contacts by name order', () => `${CONTACTS}?sort=last_name`),
  list(CONTACTS, 'contacts by change', () => `${CONTACTS}?sort=-updated_at`),
  list(`${CONTACTS}/{id}`, 'contact', (s, n) => `${CONTACTS}/${pick(s.contacts, n).id}`),
  list(
    `${CONTACTS}/{id}/identities`,
    'identities',
    (s, n) => `${CONTACTS}/${pick(s.contacts, n).id}/identities`,
  ),
  list(`${CONTACTS}/{id}/consents`, 'consents', (s, n) => `${CONTACTS}/${pick(s.contacts, n).id}/consents`),
  list(
    `${CONTACTS}/{id}/consents`,
    'consents history',
    (s, n) => `${CONTACTS}/${pick(s.contacts, n).id}/consents?view=history`,
  ),
  list(
    `${CONTACTS}/{id}/segments`,
    'segments of a contact',
    (s, n) => `${CONTACTS}/${pick(s.contacts, n).id}/segments`,
  ),
  list(`${CONTACTS}/{id}/national-id`, 'national id', (s) => `${CONTACTS}/${s.identified}/national-id`),
  list(EVENTS, 'events page 1', () => `${EVENTS}?limit=50`),
  list(EVENTS, 'events page 2000', (s) => s.deepEvents),
  list(EVENTS, 'events of a contact', (s, n) => `${EVENTS}?contact_id=${pick(s.contacts, n).id}`),
  list(EVENTS, 'events by external_id', (s, n) => `${EVENTS}?external_id=${pick(s.contacts, n).external_id}`),
  list(EVENTS, 'events by name', () => `${EVENTS}?event=purchase_completed`),
  list(
    EVENTS,
    'events by name since',
    (s) => `${EVENTS}?event=purchase_completed&occurred_at[gte]=${s.recent}`,
  ),
  list(EVENTS, 'events by arrival', () => `${EVENTS}?sort=-received_at`),
  list(EVENTS, 'event by correlation', (s, n) => `${EVENTS}?correlation_id=${pick(s.events, n).id}`),
  list(
    EVENTS,
    'event by idempotency key',
    (s, n) => `${EVENTS}?idempotency_key=${pick(s.events, n).idempotency_key}`,
  ),
  list('/v1/core/dead-letters', 'dead letters', () => '/v1/core/dead-letters?state=pending'),
  list('/v1/core/usage', 'usage of 30 days', () => '/v1/core/usage'),
  list(
    '/v1/core/usage',
    'usage of 400 days by month',
    (s) => `/v1/core/usage?from=${s.longAgo}&granularity=month`,
  ),
  list('/v1/core/audit-log', 'audit log', () => '/v1/core/audit-log'),
  list('/v1/core/audit-log', 'audit log by action', () => '/v1/core/audit-log?action=core.contacts.create'),
  list('/v1/core/merge-suggestions', 'merge suggestions', () => '/v1/core/merge-suggestions'),
  list('/v1/core/segments', 'segments', () => '/v1/core/segments'),
  list('/v1/core/segments/{id}', 'segment', (s) => `/v1/core/segments/${s.segment}`),
  list(
    '/v1/core/segments/{id}/members',
    'members of a segment',
    (s) => `/v1/core/segments/${s.segment}/members`,
  ),
  list('/v1/core/currencies', 'currencies', () => '/v1/core/currencies'),
  list('/v1/core/countries', 'countries', () => '/v1/core/countries'),
  list('/v1/core/national-id-types', 'national id types', () => '/v1/core/national-id-types'),
  list('/v1/core/notification-channels', 'notification channels', () => '/v1/core/notification-channels'),
];

const one = (m) => `${CONTACTS}/${m.id}`;
const step = (name, method, route, path, body, status, kept = undefined) => ({
  name,
  method,
  route: `${method} ${route}`,
  path,
  body,
  status,
  kept,
});

/**
 * One contact's life, a call each; the next run of it makes another. `m` keeps the id that an answer brought under the
 * name that the step gives it.
 */
export const LIFE = [
  step(
    'create a contact',
    'POST',
    CONTACTS,
    () => CONTACTS,
    (key) => ({ external_id: key, email: `${key}@load.example`, first_name: 'Load', last_name: 'Made' }),
    201,
    'id',
  ),
  step('change a contact', 'PATCH', `${CONTACTS}/{id}`, one, (key) => ({ first_name: `Load ${key}` }), 200),
  step(
    'add an identity',
    'POST',
    `${CONTACTS}/{id}/identities`,
    (m) => `${one(m)}/identities`,
    (key) => ({ type: 'device_id', value: `device-${key}` }),
    201,
  ),
  step(
    'remove an identity',
    'DELETE',
    `${CONTACTS}/{id}/identities`,
    (m, key) => `${one(m)}/identities?type=device_id&value=device-${key}`,
    undefined,
    204,
  ),
  step(
    'add another identity',
    'POST',
    `${CONTACTS}/{id}/identities`,
    (m) => `${one(m)}/identities`,
    (key) => ({ type: 'device_id', value: `other-${key}` }),
    201,
    'identity',
  ),
  step(
    'remove an identity by its id',
    'DELETE',
    `${CONTACTS}/{id}/identities/{identity_id}`,
    (m) => `${one(m)}/identities/${m.identity}`,
    undefined,
    204,
  ),
  step('delete a contact', 'DELETE', `${CONTACTS}/{id}`, one, undefined, 204),
  step(
    'restore a contact',
    'POST',
    `${CONTACTS}/{id}/restore`,
    (m) => `${one(m)}/restore`,
    () => ({}),
    200,
  ),
  step('delete it again', 'DELETE', `${CONTACTS}/{id}`, one, undefined, 204),
  step('purge a contact', 'DELETE', `${CONTACTS}/{id}/purge`, (m) => `${one(m)}/purge`, undefined, 204),
];

const SEGMENTS = '/v1/core/segments';
const segment = (m) => `${SEGMENTS}/${m.id}`;

/** What segments are called that are made here, so that those of a run that was stopped can be found. */
export const SEGMENT_NAME = 'Load segment';

/** One segment's life; every rule of it is evaluated over all contacts. */
export const SEGMENT_LIFE = [
  step(
    'create a segment',
    'POST',
    SEGMENTS,
    () => SEGMENTS,
    (key) => ({
      name: `${SEGMENT_NAME} ${key}`,
      rule: { event: 'load_never', count: { op: 'gte', value: 1 } },
    }),
    201,
    'id',
  ),
  step(
    'change a segment',
    'PATCH',
    `${SEGMENTS}/{id}`,
    segment,
    (key) => ({ description: `Changed by ${key}` }),
    200,
  ),
  step('delete a segment', 'DELETE', `${SEGMENTS}/{id}`, segment, undefined, 204),
  step(
    'restore a segment',
    'POST',
    `${SEGMENTS}/{id}/restore`,
    (m) => `${segment(m)}/restore`,
    () => ({}),
    200,
  ),
  step('delete the segment again', 'DELETE', `${SEGMENTS}/{id}`, segment, undefined, 204),
  step('purge a segment', 'DELETE', `${SEGMENTS}/{id}/purge`, (m) => `${segment(m)}/purge`, undefined, 204),
];

/** Writes that stand alone; `m` and `other` are seeded contacts, `s` is the sample. */
export const WRITES = [
  step(
    'record a consent',
    'POST',
    `${CONTACTS}/{id}/consents`,
    (m) => `${one(m)}/consents`,
    () => ({
      purpose: 'marketing',
      channel: 'email',
      status: 'granted',
      notice_version: '2026-03',
      method: 'web_form',
    }),
    201,
  ),
  step(
    'change a seeded contact',
    'PATCH',
    `${CONTACTS}/{id}`,
    one,
    (key) => ({ last_name: `Changed ${key}` }),
    200,
  ),
  step(
    'try a merge',
    'POST',
    `${CONTACTS}/merge`,
    () => `${CONTACTS}/merge`,
    (key, m, other) => ({ survivor_id: m.id, merged_id: other.id, dry_run: true }),
    200,
  ),
  step(
    'replay a dead letter',
    'POST',
    '/v1/core/dead-letters/{id}/replay',
    (m, s) => `/v1/core/dead-letters/${s.deadLetter}/replay`,
    () => ({}),
    202,
  ),
];
