import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { ID_EDGES, INSTANT_EDGES, NUMBER_EDGES, TEXT_EDGES } from '@customer-platform/testing';
import { Problem } from '@customer-platform/problem-json';
import { BUILT_IN } from '../../providers/built-in.js';
import type { Account } from '../../providers/provider.js';
import type { ProviderReport } from '../../providers/report.js';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { ProviderReports } from './provider-reports.service.js';

/** A part of a body: its fields are what edges are put into. */
type Body = Readonly<Record<string, unknown>>;

interface Example {
  /** Reports of the provider, as fields. */
  readonly said: readonly Body[];
  /** Writes what is said as the provider does. */
  readonly written: (said: unknown) => string;
}

const AT = '2026-11-21T09:30:00.000Z';
const SEND = '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e10';
const PHONE_NUMBER = '1';
const json = (said: unknown): string => JSON.stringify(said);
const form = (said: unknown): string => {
  const fields = Object.entries((said ?? {}) as Body).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : json(value),
  ]);
  return new URLSearchParams(fields).toString();
};

const ofMeta = (value: Body): Body => ({
  entry: [
    { changes: [{ field: 'messages', value: { metadata: { phone_number_id: PHONE_NUMBER }, ...value } }] },
  ],
});
const GENERIC: Example = {
  said: [
    {
      provider_message_id: 'one',
      event: 'bounced',
      occurred_at: AT,
      provider_event_id: 'event',
      bounce_type: 'hard',
    },
  ],
  written: json,
};

/** One of each kind of report that a provider makes, by the name of its webhook. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  standard: GENERIC,
  generic: GENERIC,
  twilio: {
    said: [
      { MessageStatus: 'undelivered', MessageSid: 'SM2', ErrorCode: '30005' },
      { SmsStatus: 'received', Body: 'stop', From: '+56987654321', MessageSid: 'SM1', OptOutType: 'STOP' },
    ],
    written: form,
  },
  meta: {
    said: [
      ofMeta({
        statuses: [
          {
            id: 'wamid.1',
            status: 'failed',
            timestamp: '1764000000',
            biz_opaque_callback_data: SEND,
            errors: [{ code: 131026 }],
          },
        ],
      }),
      ofMeta({
        messages: [{ from: '56987654321', id: 'wamid.2', timestamp: '1764000000', text: { body: 'stop' } }],
      }),
    ],
    written: json,
  },
  mailgun: {
    said: [
      {
        'event-data': {
          event: 'failed',
          severity: 'permanent',
          reason: 'bounce',
          id: 'DACSsAdVSeGpLid7TN03WA',
          timestamp: 1764000000.329574,
          message: { headers: { 'message-id': 'one@shop.example' } },
          'user-variables': { send: SEND },
          'delivery-status': { code: 550, message: '5.1.1 no such user', description: '' },
        },
      },
    ],
    written: json,
  },
  ses: {
    said: [
      {
        eventType: 'Bounce',
        mail: { messageId: '0100018e-019a6f0e', tags: { send: [SEND] } },
        bounce: {
          bounceType: 'Permanent',
          feedbackId: 'f-1',
          timestamp: AT,
          bouncedRecipients: [{ status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' }],
        },
      },
      {
        eventType: 'Complaint',
        mail: { messageId: '0100018e-019a6f0f' },
        complaint: { complaintFeedbackType: 'abuse', timestamp: AT },
      },
    ],
    written: (said) => json({ Type: 'Notification', Message: json(said) }),
  },
};

const EDGES: readonly unknown[] = [
  ...[...TEXT_EDGES, ...INSTANT_EDGES, ...ID_EDGES, ...NUMBER_EDGES],
  ...["';--", '+100000-01-01T00:00:00.000Z', true, null, [], [[]], {}, { '\u0000': '\uD800' }],
];

const WEBHOOKS = BUILT_IN.flatMap(({ webhooks }) => Object.entries(webhooks));

/** The account of whoever reports, as far as a report is read by it. */
const ACCOUNT = {
  setting: { phone_number_id: PHONE_NUMBER },
  platform: { local: true },
  secret: () => undefined,
} as unknown as Account;

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

describe('a report of which one field is at the edge of its type', () => {
  it('has an example of each provider', () => {
    expect(Object.keys(EXAMPLES).sort()).toEqual(WEBHOOKS.map(([name]) => name).sort());
  });

  it.each(WEBHOOKS)('of %s is taken, or refused with a reason, and counts', async (name, webhook) => {
    const { id: organizationId } = world.organization();
    const example = EXAMPLES[name];
    const bodies = (example?.said ?? []).flatMap((said) => [...atEdges(said)]);
    let taken = 0;
    for (const body of bodies) {
      const text = example?.written(body) ?? '';
      const url = `https://platform.example/v1/messaging/webhooks/${name}?key=k&send=${randomUUID()}`;
      const call = { url, headers: {}, body: Buffer.from(text), now: new Date() };
      const reports = readOrRefused(() => webhook.read(call, ACCOUNT));
      taken += reports.length;
      const scope = { organizationId, channel: null, provider: name, correlationId: newId() };
      await world.app.app.get(ProviderReports).take(reports, scope);
    }
    expect(taken).toBeGreaterThan(0);
    const rows = await world.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM provider_reports WHERE organization_id = $1 AND provider = $2',
      [organizationId, name],
    );
    expect(rows[0]?.count).toBeGreaterThan(0);
  });
});

function readOrRefused(read: () => ProviderReport[]): ProviderReport[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem) return [];
    throw error;
  }
}

/** The value with each of its leaves, and each of its objects and lists, replaced by each edge. */
function* atEdges(value: unknown): Generator<unknown> {
  yield* EDGES;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value))
    for (const edge of atEdges(inner))
      yield Array.isArray(value) ? value.with(Number(name), edge) : { ...value, [name]: edge };
}
