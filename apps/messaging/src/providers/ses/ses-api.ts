import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { answerOf, idOf, textOf } from '../answers.js';
import { below } from '../setting-fields.js';
import {
  answerHeader,
  type HandOff,
  type HttpAnswer,
  type HttpSpeaker,
  type SpeakerTools,
} from '../transport-config.js';

/** Whose key signs, and where. */
interface SesAccount {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly baseUrl: string;
}

/** SHA-256 as the signer asks for it: plain, or keyed. */
class Sha256 {
  private readonly hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.hash.digest()));
  }

  reset(): void {
    throw new Error('a hash is made for one message');
  }
}

/** The account, its permission to send, or its sender's identity: the same for every message. */
const OF_ACCOUNT: ReadonlySet<string> = new Set([
  'AccountSuspendedException',
  'SendingPausedException',
  'MailFromDomainNotVerifiedException',
  'NotFoundException',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'AccessDeniedException',
]);
const TOO_MANY: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'LimitExceededException',
  'ThrottlingException',
]);

/** SendEmail of the API v2, signed by Signature Version 4. */
export function sesApi(account: SesAccount, tools: SpeakerTools): HttpSpeaker {
  const url = below(account.baseUrl, '/v2/email/outbound-emails');
  const { region, accessKeyId, secretAccessKey } = account;
  const signer = new SignatureV4({
    service: 'ses',
    region,
    credentials: { accessKeyId, secretAccessKey },
    sha256: Sha256,
  });
  return {
    async request({ content }) {
      const { headers } = await signer.sign(
        {
          method: 'POST',
          protocol: url.protocol,
          hostname: url.hostname,
          path: url.pathname,
          query: {},
          headers: { host: url.host, 'content-type': 'application/json' },
          body: content,
        },
        { signingDate: tools.now() },
      );
      return { url, headers, body: content };
    },
    read,
  };
}

function read(answer: HttpAnswer): HandOff | undefined {
  const { status, body } = answer;
  const said = answerOf(body);
  if (status >= 200 && status < 300) {
    const id = idOf(said['MessageId']);
    return { outcome: 'sent', code: status, ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  // `MessageRejected:http://internal.amazon.com/…`, in the header or in the body.
  const type = (answerHeader(answer, 'x-amzn-errortype') ?? textOf(said['__type'])).split(':', 1)[0] ?? '';
  if (TOO_MANY.has(type)) return { outcome: 'deferred', throttled: true, code: status };
  if (OF_ACCOUNT.has(type)) return { outcome: 'misconfigured', stage: 'account', code: status };
  if (type === 'MessageRejected' && textOf(said['message']).includes('not verified'))
    return { outcome: 'misconfigured', stage: 'sender', code: status };
  return undefined;
}

function bytesOf(given: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof given === 'string') return Buffer.from(given);
  return ArrayBuffer.isView(given)
    ? Buffer.from(given.buffer, given.byteOffset, given.byteLength)
    : Buffer.from(given);
}
