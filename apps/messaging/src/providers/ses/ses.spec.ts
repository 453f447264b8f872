import { createHash, createHmac, createSign, randomUUID } from 'node:crypto';
import { eventually, TEST_CERTIFICATE } from '@customer-platform/testing';
import PostalMime from 'postal-mime';
import { aSend, history, send, settled, shown } from '../../messaging.fixture.js';
import type { ProviderAnswer, ProviderRequest } from '../../provider.fixture.js';
import { postRaw } from '../../reports/webhooks/signed-calls.fixture.js';
import { providerWorld, type ProviderShop, type ProviderWorld } from '../provider-world.fixture.js';
import { isOfSns } from './sns-signature.js';

const TOPIC = 'arn:aws:sns:us-east-1:123456789012:reports';
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const KEY_ID = 'AKIDEXAMPLE000000';
const CERTIFICATE = '/SimpleNotificationService-a1b2c3.pem';

let there: ProviderWorld;
let confirmations: string[];
let answer: (request: ProviderRequest) => ProviderAnswer;
beforeAll(async () => {
  there = await providerWorld();
});
afterAll(() => there.close());
beforeEach(() => {
  confirmations = [];
  there.server.requests.length = 0;
  answer = () => ({ status: 200, body: { MessageId: `0100018e-${randomUUID()}` } });
  there.server.answer = (request) => {
    if (request.path === CERTIFICATE) return { status: 200, text: TEST_CERTIFICATE.cert };
    if (request.path.startsWith('/?Action=')) {
      confirmations.push(request.path);
      return { status: 200, text: '<ConfirmSubscriptionResponse/>' };
    }
    return answer(request);
  };
});

const aShop = (overrides: Record<string, unknown> = {}): Promise<ProviderShop> =>
  there.shop({
    email: {
      provider: 'ses',
      from: 'Shop <hello@shop.example>',
      region: 'us-east-1',
      access_key_id: KEY_ID,
      secret_access_key: SECRET,
      topic_arn: TOPIC,
      configuration_set: 'shop-events',
      base_url: there.server.url,
      ...overrides,
    },
  });

/** Signature Version 4 as AWS documents it, without the service's own code. */
function signatureOf({ path, headers, body }: ProviderRequest): string {
  const text = (name: string): string => String(headers[name] ?? '');
  const [, signed = ''] = /SignedHeaders=([^,]+)/.exec(text('authorization')) ?? [];
  const sha = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const hmac = (key: string | Buffer, value: string): Buffer =>
    createHmac('sha256', key).update(value).digest();
  const lines = signed.split(';').map((name) => `${name}:${text(name).trim()}\n`);
  const request = ['POST', path, '', lines.join(''), signed, sha(body)].join('\n');
  const at = text('x-amz-date');
  const scope = `${at.slice(0, 8)}/us-east-1/ses/aws4_request`;
  const key = ['us-east-1', 'ses', 'aws4_request'].reduce(hmac, hmac(`AWS4${SECRET}`, at.slice(0, 8)));
  return hmac(key, ['AWS4-HMAC-SHA256', at, scope, sha(request)].join('\n')).toString('hex');
}

interface Signing {
  key?: string;
  version?: string;
}
/** A message of SNS, signed as its documentation says. */
function sns(
  fields: Record<string, string>,
  { key = TEST_CERTIFICATE.key, version = '2' }: Signing = {},
): string {
  const message: Record<string, string> = {
    Type: 'Notification',
    MessageId: randomUUID(),
    TopicArn: TOPIC,
    Timestamp: new Date().toISOString(),
    SignatureVersion: version,
    SigningCertURL: `${there.server.url}${CERTIFICATE}`,
    ...fields,
  };
  const names =
    message['Type'] === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names.flatMap((name) => (name in message ? `${name}\n${message[name] ?? ''}\n` : [])).join('');
  const signer = createSign(version === '1' ? 'sha1' : 'sha256').update(text);
  return JSON.stringify({ Signature: signer.sign(key, 'base64'), ...message });
}
const event = (messageId: string | null, kind: string, more: object = {}): Record<string, string> => ({
  Message: JSON.stringify({ eventType: kind, mail: { messageId, tags: {} }, ...more }),
});
const post = ({ urls }: ProviderShop, body: string): ReturnType<typeof postRaw> =>
  postRaw(there.world, urls['email'] ?? '', body, { 'content-type': 'text/plain; charset=UTF-8' });
async function sent(shop: ProviderShop): Promise<{ id: string; messageId: string | null }> {
  const id = await send(shop.api, aSend());
  return { id, messageId: (await settled(shop.api, id, 'sent')).provider_message_id };
}

describe('sending by SES', () => {
  it('posts the very mail, signed by Signature Version 4', async () => {
    const shop = await aShop();
    const id = await send(shop.api, aSend({ recipient: { address: 'ana@example.com' } }));
    expect((await settled(shop.api, id, 'sent')).provider_message_id).toMatch(/^0100018e-/);
    const [request] = there.server.requests;
    if (!request) throw new Error('nothing was posted');
    expect(request.path).toBe('/v2/email/outbound-emails');
    expect(request.headers.authorization).toContain(`Credential=${KEY_ID}/`);
    expect(request.headers.authorization).toContain(`Signature=${signatureOf(request)}`);
    expect(request.headers.authorization).not.toContain(SECRET);
    const body = JSON.parse(request.body.toString()) as { Content: { Raw: { Data: string } } };
    expect(body).toMatchObject({
      FromEmailAddress: 'hello@shop.example',
      Destination: { ToAddresses: ['ana@example.com'] },
      EmailTags: [{ Name: 'send', Value: id }],
      ConfigurationSetName: 'shop-events',
    });
    const mail = await PostalMime.parse(Buffer.from(body.Content.Raw.Data, 'base64'));
    expect([mail.subject, mail.from?.address]).toEqual(['Hello', 'hello@shop.example']);
  });

  const error = (status: number, type: string, message = 'no'): ProviderAnswer => ({
    status,
    body: { message },
    headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` },
  });
  it.each<[ProviderAnswer, string, string | null]>([
    [error(403, 'SignatureDoesNotMatch'), 'gated', 'account'],
    [error(400, 'AccountSuspendedException'), 'gated', 'account'],
    [error(400, 'SendingPausedException'), 'gated', 'account'],
    [error(400, 'MessageRejected', 'Email address is not verified.'), 'gated', 'sender'],
    [error(403, 'SomethingNew'), 'gated', 'request'],
    [error(400, 'LimitExceededException'), 'gated', null],
    [error(429, 'TooManyRequestsException'), 'gated', null],
    [{ status: 503 }, 'gated', null],
    [error(400, 'MessageRejected', 'Illegal content'), 'bounced', null],
    [error(400, 'BadRequestException'), 'bounced', null],
    [{ status: 502 }, 'unknown', null],
    [null, 'unknown', null],
  ])('takes %j for %s', async (given, state, stage) => {
    const shop = await aShop();
    answer = () => given;
    const id = await send(shop.api, aSend());
    await eventually(async () => expect(await shown(shop.api, id)).toMatchObject({ state, attempts: 1 }));
    const fault = await there.fault(shop, 'email');
    if (stage === null) expect(fault).toBeNull();
    else expect(fault).toMatchObject({ stage });
    expect(await there.suppressions(shop)).toEqual([]);
  });
});

function bounce(bounceType: string, status: string, diagnosticCode: string): object {
  const bouncedRecipients = [{ emailAddress: 'ines@example.com', status, diagnosticCode }];
  return { bounce: { bounceType, bouncedRecipients } };
}

describe('POST /v1/messaging/webhooks/ses', () => {
  it.each([
    ['Delivery', {}, 'delivered', undefined],
    ['Open', {}, 'opened', undefined],
    ['Click', {}, 'clicked', undefined],
    ['Send', {}, 'sent', undefined],
    ['DeliveryDelay', {}, 'sent', undefined],
    ['Bounce', { bounce: { bounceType: 'Permanent', feedbackId: 'f-1' } }, 'bounced', 'hard_bounce'],
    ['Bounce', { bounce: { bounceType: 'Transient', feedbackId: 'f-2' } }, 'bounced', undefined],
    ['Bounce', bounce('Transient', '5.0.0', 'smtp; 550 User unknown'), 'bounced', 'hard_bounce'],
    ['Bounce', bounce('Undetermined', '5.1.351', ''), 'bounced', 'hard_bounce'],
    ['Bounce', bounce('Permanent', '5.7.1', 'smtp; 550 5.7.1 not from you'), 'bounced', undefined],
    ['Bounce', bounce('Permanent', '5.4.4', 'smtp; 550 5.4.4 no way there'), 'bounced', 'hard_bounce'],
    ['Complaint', { complaint: { feedbackId: 'f-3' } }, 'complained', 'complaint'],
    ['Complaint', { complaint: { complaintFeedbackType: 'abuse' } }, 'complained', 'complaint'],
    ['Complaint', { complaint: { complaintFeedbackType: 'not-spam' } }, 'sent', undefined],
    ['Complaint', { complaint: { complaintFeedbackType: 'auth-failure' } }, 'sent', undefined],
    ['Reject', {}, 'bounced', undefined],
  ])('reads %s %j as %s, once', async (kind, more, state, reason) => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop);
    const body = sns(event(messageId, kind, more));
    const before = (await history(shop.api, id)).length;
    for (const one of await Promise.all([post(shop, body), post(shop, body)])) expect(one.status).toBe(200);
    expect((await shown(shop.api, id)).state).toBe(state);
    expect((await history(shop.api, id)).length - before).toBe(
      state === 'sent' && kind !== 'DeliveryDelay' ? 0 : 1,
    );
    expect((await there.suppressions(shop)).map((one) => one.reason)).toEqual(reason ? [reason] : []);
  });

  it('takes the older signature, and a subject with it', async () => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop);
    const body = sns({ ...event(messageId, 'Delivery'), Subject: 'x' }, { version: '1' });
    expect((await post(shop, body)).status).toBe(200);
    expect((await shown(shop.api, id)).state).toBe('delivered');
  });

  const subscribe = (url: string): Record<string, string> => ({
    Type: 'SubscriptionConfirmation',
    Message: 'You have chosen to subscribe',
    Token: 'token',
    SubscribeURL: url,
  });

  it('confirms the subscription of its own topic, and asks no other host', async () => {
    const shop = await aShop();
    const path = `/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=token`;
    const right = sns(subscribe(`${there.server.url}${path}`));
    expect(await post(shop, right)).toEqual({ status: 200, body: { received: 0 } });
    expect(confirmations).toEqual([path]);
    for (const url of ['https://sns.us-east-1.amazonaws.com.evil.example/', 'http://169.254.169.254/', 'x'])
      expect((await post(shop, sns(subscribe(url)))).status).toBe(401);
    expect((await post(shop, sns(subscribe(`${there.server.url}/?Action=DeleteTopic`)))).status).toBe(401);
    expect(confirmations).toHaveLength(1);
  });

  it('401 for what SNS has not signed, of another topic, by another certificate or at another time', async () => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop);
    const hard = event(messageId, 'Bounce', { bounce: { bounceType: 'Permanent' } });
    const stranger = 'arn:aws:sns:us-east-1:999999999999:reports';
    const at = (offset: number): string => new Date(Date.now() + offset).toISOString();
    const cases: [string, string, string?][] = [
      ['nothing', ''],
      ['no JSON', 'x'],
      ['no signature', JSON.stringify({ ...hard, Type: 'Notification', TopicArn: TOPIC })],
      ['an altered message', sns(hard).replace('Permanent', 'Transient')],
      ['another topic', sns({ ...hard, TopicArn: stranger })],
      ['another type', sns({ ...hard, Type: 'constructor' })],
      ['another version', sns({ ...hard, SignatureVersion: '3' })],
      [
        'a host that only looks like it',
        sns({ ...hard, SigningCertURL: `https://sns.amazonaws.com.evil.example${CERTIFICATE}` }),
      ],
      ['a host within the network', sns({ ...hard, SigningCertURL: `http://169.254.169.254${CERTIFICATE}` })],
      ['another path', sns({ ...hard, SigningCertURL: `${there.server.url}/other.pem` })],
      ['long ago', sns({ ...hard, Timestamp: at(-3_700_000) }), 'stale_signature'],
      ['not yet', sns({ ...hard, Timestamp: at(310_000) }), 'stale_signature'],
      ['no time', sns({ ...hard, Timestamp: 'x' }), 'stale_signature'],
    ];
    for (const [what, body, code = 'invalid_signature'] of cases) {
      const given = await post(shop, body);
      expect([what, given.status, given.body.code]).toEqual([what, 401, code]);
    }
    const without = await aShop({ topic_arn: null });
    expect((await post(without, sns(hard))).status).toBe(401);
    expect((await shown(shop.api, id)).state).toBe('sent');
    expect((await post(shop, sns({ ...hard, Timestamp: at(-3_000_000) }))).status).toBe(200);
  });
});

describe('a host of SNS', () => {
  it.each([
    ['https://sns.us-east-1.amazonaws.com/x.pem', true],
    ['https://sns.cn-north-1.amazonaws.com.cn/x.pem', true],
    ['http://sns.us-east-1.amazonaws.com/x.pem', false],
    ['https://sns.us-east-1.amazonaws.com:8443/x.pem', false],
    ['https://user@sns.us-east-1.amazonaws.com/x.pem', false],
    ['https://sns.us-east-1.amazonaws.com@evil.example/x.pem', false],
    ['https://sns.us-east-1.amazonaws.com.evil.example/x.pem', false],
    ['https://evilsns.us-east-1.amazonaws.com/x.pem', false],
    ['https://sns.us-gov-west-1.amazonaws.com/x.pem', true],
    ['https://bucket.s3.amazonaws.com/x.pem', false],
    ['https://sns.s3.amazonaws.com/x.pem', false],
    ['https://sns.s3-us-west-2.amazonaws.com/x.pem', false],
    ['https://sns.s3-website-us-west-2.amazonaws.com/x.pem', false],
    ['https://sns.us-east-1.amazonaws.com.cn.evil/x.pem', false],
    ['https://127.0.0.1/x.pem', false],
    ['', false],
  ])('%s: %s', (url, expected) => {
    expect(isOfSns(url, false)).toBe(expected);
  });
});
