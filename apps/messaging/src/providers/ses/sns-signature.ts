import { createVerify, X509Certificate } from 'node:crypto';
import { isLoopbackHost } from '@customer-platform/outbound';
import { Problem } from '@customer-platform/problem-json';
import { entryOf, textOf, type Foreign } from '../answers.js';
import type { WebhookTools } from '../webhook.js';

/**
 * SNS signs from its own hosts alone; whoever may name another could sign by a certificate of their own. A region stands
 * in the middle and nothing else: `sns.s3-us-west-2.amazonaws.com` is a bucket of whoever was first to call one `sns`.
 */
const SNS_HOST = /^sns\.[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d\.amazonaws\.com(?:\.cn)?$/;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[A-Za-z0-9]{1,100}\.pem$/;
const ALGORITHMS: Readonly<Record<string, string>> = { 1: 'sha1', 2: 'sha256' };
/** SNS repeats a call with the time and the signature of the first; what is repeated is known by its message. */
const LONGEST_REPEATED_MS = 3_600_000;
const AHEAD_MS = 300_000;
const REMEMBERED = 50;

const SIGNED: Readonly<Record<string, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
};

const certificates = new Map<string, X509Certificate>();

/** An https address of SNS itself; of this machine, too, in local mode. */
export function isOfSns(text: string, local: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, port, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  if (local && isLoopbackHost(hostname)) return true;
  return protocol === 'https:' && port === '' && SNS_HOST.test(hostname);
}

/**
 * Whether SNS has signed a message, by the certificate that it names.
 * @throws Problem `invalid_signature`, `stale_signature`
 */
export async function verifySns(
  message: Foreign,
  { now, local }: { readonly now: Date; readonly local: boolean },
  tools: WebhookTools,
): Promise<void> {
  const fields = entryOf(SIGNED, textOf(message['Type']));
  const algorithm = entryOf(ALGORITHMS, textOf(message['SignatureVersion']));
  const certificateUrl = textOf(message['SigningCertURL']);
  if (!fields || !algorithm || !isOfSns(certificateUrl, local)) throw new Problem('invalid_signature');
  if (!CERTIFICATE_PATH.test(new URL(certificateUrl).pathname)) throw new Problem('invalid_signature');
  const certificate = await certificateAt(certificateUrl, tools);
  const verifier = createVerify(algorithm).update(canonical(message, fields));
  const genuine =
    new Date(certificate.validFrom) <= now &&
    now <= new Date(certificate.validTo) &&
    verifier.verify(certificate.publicKey, textOf(message['Signature']), 'base64');
  if (!genuine) throw new Problem('invalid_signature');
  const age = now.getTime() - Date.parse(textOf(message['Timestamp']));
  if (!(age <= LONGEST_REPEATED_MS && age >= -AHEAD_MS)) throw new Problem('stale_signature');
}

/** Names and values, a line each; what is not there is left out. */
function canonical(message: Foreign, fields: readonly string[]): string {
  return fields
    .filter((field) => typeof message[field] === 'string')
    .map((field) => `${field}\n${textOf(message[field])}\n`)
    .join('');
}

async function certificateAt(url: string, { fetch }: WebhookTools): Promise<X509Certificate> {
  const known = certificates.get(url);
  if (known) return known;
  const certificate = await read(url, fetch);
  if (certificates.size >= REMEMBERED) certificates.clear();
  certificates.set(url, certificate);
  return certificate;
}

/** SNS repeats the call where its own certificate could not be had. */
async function read(url: string, ask: WebhookTools['fetch']): Promise<X509Certificate> {
  let text: string;
  try {
    const answer = await ask(url);
    if (answer.status !== 200) throw new Problem('invalid_signature');
    text = await answer.text();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('dependency_unavailable');
  }
  try {
    return new X509Certificate(text);
  } catch {
    throw new Problem('invalid_signature');
  }
}
