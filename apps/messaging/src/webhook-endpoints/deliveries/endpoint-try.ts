import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { postPinned, type PostAnswer } from '@customer-platform/outbound';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { SecretBox } from '../../vocabulary/secrets/secret-box.js';
import { signStandard } from '../../vocabulary/signatures/standard-webhooks.js';
import { openSecrets, type SigningSecret } from '../signing-secrets.js';

const TRY_MS = 15_000;

/** Where a message goes, and what signs it. */
interface TriedEndpoint {
  readonly organizationId: string;
  readonly id: string;
  readonly url: string;
  readonly secrets: readonly SigningSecret[];
}

/** What is sent: the same on every try. */
interface WebhookMessage {
  /** The `webhook-id`. */
  readonly id: string;
  readonly body: string;
  readonly correlationId: string;
}

/** How a try went: when it began, what came back, and how long that took. */
interface TryOutcome {
  readonly at: Date;
  readonly answer: PostAnswer;
  readonly ms: number;
}

/** Why nothing that counts came back; null after a success. Says nothing of the network it was asked from. */
export function failureOf(answer: PostAnswer): string | null {
  if ('failure' in answer) return answer.failure;
  if (isSuccess(answer)) return null;
  return answer.status >= 300 && answer.status < 400 ? 'redirect_not_followed' : 'status_not_2xx';
}

/** Whether the endpoint has taken it. */
export function isSuccess(answer: PostAnswer): boolean {
  return 'status' in answer && answer.status >= 200 && answer.status < 300;
}

/** The status of an answer, where there was one. */
export function statusOf(answer: PostAnswer): number | null {
  return 'status' in answer ? answer.status : null;
}

/** Tells an endpoint something, once: signed, to an address that is checked at this moment, for 15 s at most. */
@Injectable()
export class EndpointTry {
  private readonly box: SecretBox;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly clock: Clock,
  ) {
    this.box = new SecretBox(config.keyring);
  }

  /** @throws UnreadableSecret; never for what the endpoint does */
  async post(endpoint: TriedEndpoint, { id, body, correlationId }: WebhookMessage): Promise<TryOutcome> {
    const at = this.clock.now();
    const begun = performance.now();
    const answer = await postPinned({
      url: new URL(endpoint.url),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'customer-platform-webhooks/1',
        'x-correlation-id': correlationId,
        ...signStandard(openSecrets(this.box, endpoint, endpoint.secrets, at), { id, at, body }),
      },
      body,
      timeoutMs: TRY_MS,
      allowLoopback: this.config.local,
      ports: this.config.outboundPorts,
    });
    return { at, answer, ms: Math.round(performance.now() - begun) };
  }
}
