import { randomUUID } from 'node:crypto';
import type { Permission } from '@customer-platform/permissions';
import { expectStatus, type Answer, type Caller } from '@customer-platform/testing';
import { aSend, aTemplate } from '../../messaging.fixture.js';
import { PERMISSIONS_OF_CHANNELS, permissionsOfCampaign, permissionsOfRule } from './carried-permissions.js';

/** An organization in which somebody tries, and a segment of it. */
export interface Reading {
  /** Who may do everything. */
  readonly admin: Caller;
  readonly segment: { readonly type: 'segment'; readonly id: string };
}

/** A call that has data carried out, ready to be made by anybody, more than once until it succeeds. */
type Attempt = (caller: Caller) => Promise<Answer<object>>;

/** A way to have data carried out that goes on by itself: the route, and what is there before it is called. */
interface WayToRead {
  /** As in the description of the API. */
  readonly route: string;
  /** Where a route has several. */
  readonly by?: string;
  /** What the route asks of everybody. */
  readonly own: readonly Permission[];
  /** What reads all that is carried out. */
  readonly needed: readonly Permission[];
  readonly prepare: (reading: Reading) => Promise<Attempt>;
}

const ENDPOINTS = '/v1/messaging/webhook-endpoints';
const ROUTING = '/v1/messaging/event-routing';
const SENDS = '/v1/messaging/sends';
const TEMPLATES = '/v1/messaging/templates';
const CAMPAIGNS = '/v1/messaging/campaigns';
const SETTINGS = '/v1/messaging/channel-settings';
const OF_RULE = permissionsOfRule('core.event.recorded');
const OF_CAMPAIGN = permissionsOfCampaign('segment');

async function made(admin: Caller, path: string, body: object): Promise<string> {
  const answer = await admin.post<{ id: string }>(path, body);
  expectStatus(answer, 201);
  return answer.body.id;
}

const aText = ({ admin }: Reading): Promise<string> => made(admin, TEMPLATES, aTemplate());

const anEndpoint = () => ({
  name: randomUUID(),
  url: 'http://127.0.0.1:9/read',
  events: ['core.event.recorded', 'core.contact.updated'],
});

const aRule = (template_id: string) => ({
  name: randomUUID(),
  event_type: 'core.event.recorded',
  event_name: 'paid',
  channel: 'email',
  template_id,
  recipient: { from: 'address', value: 'reader@example.com' },
});

const aCampaign = async (reading: Reading) => ({
  name: randomUUID(),
  channel: 'email',
  template_id: await aText(reading),
  audience: reading.segment,
});

const aChannel = () => ({
  provider: 'http',
  url: `http://127.0.0.1:9/${randomUUID()}`,
  secret: `whsec_${'A'.repeat(32)}`,
});

const ruleOf = async (reading: Reading): Promise<string> =>
  `${ROUTING}/${await made(reading.admin, ROUTING, aRule(await aText(reading)))}`;

const patched =
  (path: string, body: () => object): Attempt =>
  (caller) =>
    caller.patch(path, body());

/** Ways by which a caller has something rendered of a contact. */
export const RENDERING: readonly WayToRead[] = [
  {
    route: `POST ${SENDS}`,
    by: 'words of one’s own',
    own: ['messaging.sends.create'],
    needed: ['core.contacts.read'],
    prepare: () =>
      Promise.resolve((caller) =>
        caller.post(SENDS, aSend({ content: { subject: '{{ contact.last_name }}', text: 'x' } }), {
          'idempotency-key': randomUUID(),
        }),
      ),
  },
];

const RULES: readonly WayToRead[] = [
  {
    route: `POST ${ROUTING}`,
    own: ['messaging.routing.update'],
    needed: OF_RULE,
    prepare: async (reading) => {
      const template = await aText(reading);
      return (caller) => caller.post(ROUTING, aRule(template));
    },
  },
  ...(
    [
      ['recipient', () => ({ recipient: { from: 'address', value: `${randomUUID()}@example.com` } })],
      [
        'condition',
        () => ({ condition: { all: [{ path: 'contact.email', op: 'prefix', value: randomUUID() }] } }),
      ],
      ['adopt', () => ({ adopt: true })],
    ] as const
  ).map(([by, body]): WayToRead => ({
    route: `PATCH ${ROUTING}/{id}`,
    by,
    own: ['messaging.routing.update'],
    needed: OF_RULE,
    prepare: async (reading) => patched(await ruleOf(reading), body),
  })),
  {
    route: `PATCH ${TEMPLATES}/{id}`,
    by: 'the text of a rule',
    own: ['messaging.templates.update'],
    needed: OF_RULE,
    prepare: async (reading) => {
      const template = await aText(reading);
      await made(reading.admin, ROUTING, aRule(template));
      const text = () => ({
        locales: { es: { subject: randomUUID(), html: '<p>{{ event.properties.a }}</p>' } },
      });
      return patched(`${TEMPLATES}/${template}`, text);
    },
  },
];

const CAMPAIGN_WAYS: readonly WayToRead[] = [
  {
    route: `POST ${CAMPAIGNS}`,
    own: ['messaging.campaigns.create'],
    needed: OF_CAMPAIGN,
    prepare: async (reading) => {
      const body = await aCampaign(reading);
      return (caller) => caller.post(CAMPAIGNS, { ...body, name: randomUUID() });
    },
  },
  ...(
    [
      ['data', () => ({ data: { a: randomUUID() } })],
      ['adopt', () => ({ adopt: true })],
    ] as const
  ).map(([by, body]): WayToRead => ({
    route: `PATCH ${CAMPAIGNS}/{id}`,
    by,
    own: ['messaging.campaigns.update'],
    needed: OF_CAMPAIGN,
    prepare: async (reading) =>
      patched(`${CAMPAIGNS}/${await made(reading.admin, CAMPAIGNS, await aCampaign(reading))}`, body),
  })),
  {
    route: `POST ${CAMPAIGNS}/{id}/run`,
    own: ['messaging.campaigns.run'],
    needed: OF_CAMPAIGN,
    prepare: async (reading) => {
      const id = await made(reading.admin, CAMPAIGNS, await aCampaign(reading));
      return (caller) => caller.post(`${CAMPAIGNS}/${id}/run`);
    },
  },
];

/** Every way to have data carried out by configuration: each route that may answer `privilege_escalation` is here. */
export const WAYS_TO_READ: readonly WayToRead[] = [
  {
    route: `POST ${ENDPOINTS}`,
    own: ['messaging.webhooks.create'],
    needed: OF_RULE,
    prepare: () => Promise.resolve((caller) => caller.post(ENDPOINTS, anEndpoint())),
  },
  {
    route: `PATCH ${ENDPOINTS}/{id}`,
    by: 'url',
    own: ['messaging.webhooks.update'],
    needed: OF_RULE,
    prepare: async ({ admin }) =>
      patched(`${ENDPOINTS}/${await made(admin, ENDPOINTS, anEndpoint())}`, () => ({
        url: `http://127.0.0.1:9/${randomUUID()}`,
      })),
  },
  {
    route: `PATCH ${ENDPOINTS}/{id}`,
    by: 'adopt',
    own: ['messaging.webhooks.update'],
    needed: OF_RULE,
    prepare: async ({ admin }) =>
      patched(`${ENDPOINTS}/${await made(admin, ENDPOINTS, anEndpoint())}`, () => ({ adopt: true })),
  },
  ...RULES,
  {
    route: `PUT ${SETTINGS}`,
    by: 'an account of one’s own',
    own: ['messaging.channels.update'],
    needed: PERMISSIONS_OF_CHANNELS,
    prepare: () =>
      Promise.resolve((caller) => caller.call('PUT', SETTINGS, { body: { channels: { push: aChannel() } } })),
  },
  {
    route: `PUT ${SETTINGS}`,
    by: 'adopt',
    own: ['messaging.channels.update'],
    needed: PERMISSIONS_OF_CHANNELS,
    prepare: async ({ admin }) => {
      const channels = { push: aChannel() };
      expectStatus(await admin.call('PUT', SETTINGS, { body: { channels } }), 200);
      return (caller) => caller.call('PUT', SETTINGS, { body: { channels, adopt: true } });
    },
  },
  ...CAMPAIGN_WAYS,
];
