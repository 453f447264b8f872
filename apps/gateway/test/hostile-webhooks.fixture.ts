import { createHmac, createSign, randomUUID } from 'node:crypto';
import { hostileBody } from './hostile-inputs.fixture.js';
import { FORMS, PARTS, SHAPES, TEXTS } from './hostile-shapes.fixture.js';

/** Bodies of about so many bytes each, as a provider would send them. */
interface HostileBodies {
  readonly name: string;
  readonly of: (bytes: number) => readonly string[];
}

/** A provider that reports to us: how it signs and what it sends. */
interface WebhookProvider {
  readonly name: string;
  readonly contentType: string;
  /** The headers that sign this body, sent to this address. */
  readonly sign: (secret: string, url: string, body: string) => Record<string, string>;
  /** Of a provider that signs in its body: the body with that. */
  readonly sealed?: (secret: string, body: string) => string;
  /** One that is taken when it is signed. */
  readonly example: string;
  readonly hostile: readonly HostileBodies[];
}

const seconds = (): string => String(Math.floor(Date.now() / 1_000));

const REPORT = {
  provider_message_id: '<019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f@shop.example>',
  event: 'bounced',
  occurred_at: '2026-11-21T09:30:00.000Z',
  provider_event_id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e10',
  bounce_type: 'hard',
};
const MOST_REPORTS = 500;
const LONGEST_ID = 500;

/** Each field of a report, a list of reports, and the body itself filled with each shape; and the longest list taken. */
const REPORTS: readonly HostileBodies[] = [
  ...SHAPES.map(({ name, of }) => ({
    name,
    of: (bytes: number) => {
      const value = of(bytes - 500);
      const fields = Object.keys(REPORT).map((field) => hostileBody({ example: REPORT }, [field], value));
      return [
        ...fields,
        hostileBody({ example: REPORT }, undefined, value),
        hostileBody({ example: {} }, ['events'], value),
      ];
    },
  })),
  {
    name: 'as many reports as are taken',
    of: (bytes) =>
      TEXTS.map((text) => {
        const count = Math.max(1, Math.floor(Math.min(MOST_REPORTS, bytes / LONGEST_ID / 2)));
        const events = Array.from({ length: count }, (_, at) => ({
          ...REPORT,
          provider_message_id: `${String(at)}${text.of(LONGEST_ID - 10)}`.slice(0, LONGEST_ID),
          provider_event_id: `${String(at)}${text.of(200)}`.slice(0, 255),
        }));
        return JSON.stringify({ events });
      }),
  },
];

/** An answer that somebody wrote, and what became of a message: the fields that are read of either. */
const ANSWER: Readonly<Record<string, string>> = {
  SmsStatus: 'received',
  Body: 'stop',
  From: '+56987654321',
  MessageSid: `SM${'1'.repeat(32)}`,
  OptOutType: 'STOP',
};
const OUTCOME: Readonly<Record<string, string>> = {
  MessageStatus: 'undelivered',
  MessageSid: `SM${'2'.repeat(32)}`,
  SmsSid: 'SM2',
  ErrorCode: '30005',
};

const TWILIO: readonly HostileBodies[] = [
  ...Object.entries(FORMS).map(([name, form]) => ({ name, of: (bytes: number) => [form(bytes)] })),
  ...[...TEXTS, ...PARTS].map(({ name, of }) => ({
    name,
    of: (bytes: number) => {
      const value = of(bytes - 500, (text) => new URLSearchParams({ t: text }).toString().length - 2);
      return [ANSWER, OUTCOME].flatMap((example) =>
        Object.keys(example).map((field) => new URLSearchParams({ ...example, [field]: value }).toString()),
      );
    },
  })),
];

const STATUS = {
  id: 'wamid.HBgLNTY5ODc2NTQzMjEVAgARGBI',
  status: 'failed',
  timestamp: '1764000000',
  biz_opaque_callback_data: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e10',
  errors: [{ code: 131026 }],
};
const WORDS = { from: '56987654321', id: 'wamid.1', timestamp: '1764000000', text: { body: 'stop' } };
const metaCall = (value: object): string =>
  JSON.stringify({
    entry: [{ changes: [{ field: 'messages', value: { metadata: { phone_number_id: '1' }, ...value } }] }],
  });
const MAILGUN_EVENT = {
  event: 'failed',
  severity: 'permanent',
  reason: 'bounce',
  id: 'DACSsAdVSeGpLid7TN03WA',
  timestamp: 1764000000.329574,
  message: { headers: { 'message-id': '019a6f0e@shop.example' } },
  'user-variables': { send: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e10' },
};

/** Where the certificate of SNS is had, once something serves it. */
export const SNS = {
  topic: 'arn:aws:sns:us-east-1:123456789012:reports',
  certificatePath: '/SimpleNotificationService-a1b2c3.pem',
  certificateUrl: '',
};
const SES_EVENT = {
  eventType: 'Bounce',
  mail: { messageId: '0100018e-019a6f0e', tags: { send: ['019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e10'] } },
  bounce: { bounceType: 'Permanent', feedbackId: 'f-1', timestamp: '2026-11-21T09:30:00.000Z' },
};
const SNS_FIELDS = ['Type', 'MessageId', 'Subject', 'TopicArn', 'Timestamp', 'SigningCertURL', 'Signature'];

/** Each field of an event, and each of the message around it; text within text takes twice the room. */
const SES: readonly HostileBodies[] = [
  ...filled([SES_EVENT], (event) => JSON.stringify(event)).map(({ name, of }) => ({
    name,
    of: (bytes: number) => of(bytes / 2),
  })),
  ...SHAPES.map(({ name, of }) => ({
    name: `${name}, around it`,
    of: (bytes: number) => SNS_FIELDS.map((field) => JSON.stringify({ sns: { [field]: of(bytes - 2_000) } })),
  })),
];

/** What stands in `sns` in the message around the report, the rest in it; signed where the secret is a key. */
function snsMessage(secret: string, body: string): string {
  const given = JSON.parse(body) as { sns?: Record<string, unknown> };
  const message: Record<string, unknown> = {
    Type: 'Notification',
    MessageId: randomUUID(),
    TopicArn: SNS.topic,
    Timestamp: new Date().toISOString(),
    SignatureVersion: '2',
    SigningCertURL: SNS.certificateUrl,
    Message: given.sns ? JSON.stringify(SES_EVENT) : body,
    ...given.sns,
  };
  const signed = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'].filter(
    (name) => typeof message[name] === 'string',
  );
  const text = signed.map((name) => `${name}\n${String(message[name])}\n`).join('');
  const signature = secret.startsWith('-----BEGIN')
    ? createSign('sha256').update(text).sign(secret, 'base64')
    : createHmac('sha256', secret).update(text).digest('base64');
  return JSON.stringify({ Signature: signature, ...message });
}

/** Each field of each example, and the body itself, filled with each shape. */
function filled(examples: readonly object[], call: (example: object) => string): readonly HostileBodies[] {
  return SHAPES.map(({ name, of }) => ({
    name,
    of: (bytes: number) => {
      const value = of(bytes - 1_000);
      return [
        ...examples.flatMap((example) =>
          Object.keys(example).map((field) => call({ ...example, [field]: value })),
        ),
        JSON.stringify({ any: value }),
      ];
    },
  }));
}

/** Every provider of `POST /v1/messaging/webhooks/{provider}`; each signs without the service's own code. */
export const PROVIDERS: readonly WebhookProvider[] = [
  {
    name: 'standard',
    contentType: 'application/json',
    example: JSON.stringify(REPORT),
    hostile: REPORTS,
    sign: (secret, _url, body) => {
      const [id, at] = [randomUUID(), seconds()];
      const mac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'));
      const signature = mac.update(`${id}.${at}.${body}`).digest('base64');
      return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` };
    },
  },
  {
    name: 'generic',
    contentType: 'application/json',
    example: JSON.stringify(REPORT),
    hostile: REPORTS,
    sign: (secret, _url, body) => {
      const at = seconds();
      const mac = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
      return { 'x-timestamp': at, 'x-signature': `sha256=${mac}` };
    },
  },
  {
    name: 'twilio',
    contentType: 'application/x-www-form-urlencoded',
    example: new URLSearchParams(ANSWER).toString(),
    hostile: TWILIO,
    sign: (secret, url, body) => {
      const form = new URLSearchParams(body);
      const names = [...new Set(form.keys())].sort();
      const signed = names.flatMap((name) =>
        [...new Set(form.getAll(name))].sort().map((text) => name + text),
      );
      const mac = createHmac('sha1', secret).update(url + signed.join(''));
      return { 'x-twilio-signature': mac.digest('base64') };
    },
  },
  {
    name: 'meta',
    contentType: 'application/json',
    example: metaCall({ statuses: [STATUS] }),
    hostile: [
      ...filled([STATUS], (status) => metaCall({ statuses: [status] })),
      ...filled([WORDS], (message) => metaCall({ messages: [message] })),
    ],
    sign: (secret, _url, body) => ({
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    }),
  },
  {
    name: 'mailgun',
    contentType: 'application/json',
    example: JSON.stringify({ 'event-data': MAILGUN_EVENT }),
    hostile: filled([MAILGUN_EVENT], (event) => JSON.stringify({ 'event-data': event })),
    sign: () => ({}),
    sealed: (secret, body) => {
      const [timestamp, token] = [seconds(), randomUUID()];
      const signature = createHmac('sha256', secret)
        .update(timestamp + token)
        .digest('hex');
      return `{"signature":${JSON.stringify({ timestamp, token, signature })},${body.slice(1)}`;
    },
  },
  {
    name: 'ses',
    contentType: 'text/plain; charset=UTF-8',
    example: JSON.stringify(SES_EVENT),
    hostile: SES,
    sign: () => ({}),
    sealed: snsMessage,
  },
];
