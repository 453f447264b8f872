import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '@customer-platform/problem-json';
import type { ProviderReport } from './provider-report.js';

/** A call as it came: nothing has been read of it before its signature. */
export interface WebhookCall {
  /** As the provider was told it, with the query as it came. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly now: Date;
}

/** How one kind of provider signs and speaks. */
export interface WebhookAdapter {
  /** The way out whose account this adapter's reports are of; its secret checks them. */
  readonly of: 'http' | 'twilio';
  /** @throws Problem `invalid_signature`, `stale_signature` */
  verify(call: WebhookCall, secret: string): void;
  /** Once it is verified. @throws Problem `malformed_json`, `validation_failed` */
  read(call: WebhookCall): ProviderReport[];
}

const TOLERANCE_SECONDS = 300;

/** A header that stands there once; otherwise nothing was signed. @throws Problem `invalid_signature` */
export function headerOf(call: WebhookCall, name: string): string {
  const value = call.headers[name];
  if (typeof value !== 'string' || value === '') throw new Problem('invalid_signature');
  return value;
}

/** @throws Problem `stale_signature` for a signed time that is further from now than clocks are apart */
export function requireFresh(seconds: string, now: Date): void {
  if (!/^\d{1,12}$/.test(seconds)) throw new Problem('invalid_signature');
  if (Math.abs(Number(seconds) - now.getTime() / 1_000) > TOLERANCE_SECONDS)
    throw new Problem('stale_signature');
}
