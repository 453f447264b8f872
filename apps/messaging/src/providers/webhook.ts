import type { IncomingHttpHeaders } from 'node:http';
import type { PinnedFetch } from '@customer-platform/outbound';
import { Problem } from '@customer-platform/problem-json';
import type { ProviderReport } from './report.js';

/** A call as it came: nothing has been read of it before its signature. */
export interface WebhookCall {
  /** As the provider was told it, with the query as it came. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly now: Date;
}

/** What a webhook may ask for while it looks at a call. */
export interface WebhookTools {
  /** Public addresses only, bounded, no redirects; in local mode this machine, too. */
  readonly fetch: PinnedFetch;
}

/** How one kind of provider signs its reports and what it says in them, to accounts of its kind. */
export interface Webhook<Of> {
  /**
   * Whether the account's provider has made this very call.
   * @throws Problem `invalid_signature`, also where the account has not the secret for it; `stale_signature`
   */
  verify(call: WebhookCall, account: Of, tools: WebhookTools): void | Promise<void>;
  /**
   * Of a provider that signs a token instead of the body: the token. With another body it is `invalid_signature`, for as
   * long as it is fresh.
   */
  usedOnce?(this: void, call: WebhookCall): string;
  /** Once it is verified. @throws Problem `malformed_json`, `validation_failed` */
  read(call: WebhookCall, account: Of): ProviderReport[];
  /** Of a provider that asks back before it reports: what it does once a call is verified, beside its reports. */
  confirm?(call: WebhookCall, account: Of, tools: WebhookTools): Promise<void>;
  /** The answer to `GET`, by which a provider asks whether this is the right address. @throws Problem `invalid_signature` */
  challenge?(this: void, query: URLSearchParams, account: Of): string;
}

const TOLERANCE_SECONDS = 300;

/** A header that stands there once; otherwise nothing was signed. @throws Problem `invalid_signature` */
export function headerOf(call: Pick<WebhookCall, 'headers'>, name: string): string {
  const value = call.headers[name];
  if (typeof value !== 'string' || value === '') throw new Problem('invalid_signature');
  return value;
}

/** A secret without which nothing can be verified. @throws Problem `invalid_signature` */
export function secretOf<Secret extends string>(
  account: { secret(field: Secret): string | undefined },
  field: Secret,
): string {
  const secret = account.secret(field);
  if (secret === undefined) throw new Problem('invalid_signature');
  return secret;
}

/** @throws Problem `stale_signature` for a signed time that is further from now than clocks are apart */
export function requireFresh(seconds: string, now: Date): void {
  if (!/^\d{1,12}$/.test(seconds)) throw new Problem('invalid_signature');
  if (Math.abs(Number(seconds) - now.getTime() / 1_000) > TOLERANCE_SECONDS)
    throw new Problem('stale_signature');
}
