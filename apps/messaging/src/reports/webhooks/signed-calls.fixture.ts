import { createHmac, randomUUID } from 'node:crypto';
import type { MessagingWorld } from '../../messaging.fixture.js';

/** A report as a provider writes it. */
export interface ReportBody {
  provider_message_id: string;
  event: string;
  occurred_at: string;
  provider_event_id?: string;
  bounce_type?: string;
}

/** One report of a message. */
export function aReport(messageId: string, event: string, overrides: Partial<ReportBody> = {}): ReportBody {
  return { provider_message_id: messageId, event, occurred_at: '2026-11-21T10:00:00.000Z', ...overrides };
}

const seconds = (at: number): string => String(Math.floor(at / 1_000));

/** Headers of Standard Webhooks, made here without the service's own code. */
export function standardHeaders(secret: string, body: string, at = Date.now()): Record<string, string> {
  const id = randomUUID();
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const mac = createHmac('sha256', key)
    .update(`${id}.${seconds(at)}.${body}`)
    .digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds(at), 'webhook-signature': `v1,${mac}` };
}

/** Headers of the `generic` signature. */
export function genericHeaders(secret: string, body: string, at = Date.now()): Record<string, string> {
  const mac = createHmac('sha256', secret)
    .update(`${seconds(at)}.${body}`)
    .digest('hex');
  return { 'x-timestamp': seconds(at), 'x-signature': `sha256=${mac}` };
}

/** Headers of Twilio's signature over a URL and a form. */
export function twilioHeaders(
  token: string,
  url: string,
  form: Record<string, string>,
): Record<string, string> {
  const fields = Object.keys(form)
    .sort()
    .map((name) => name + form[name]);
  return {
    'content-type': 'application/x-www-form-urlencoded',
    'x-twilio-signature': createHmac('sha1', token)
      .update(url + fields.join(''))
      .digest('base64'),
  };
}

/** Posts bytes as they are to the path and query of a webhook address. */
export async function postRaw(
  world: MessagingWorld,
  webhookUrl: string,
  body: string | Buffer,
  headers: Record<string, string>,
): Promise<{ status: number; body: { code?: string; received?: number } }> {
  const { pathname, search } = new URL(webhookUrl, 'http://localhost');
  const answer = await fetch(`${world.app.url}${pathname}${search}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: answer.status, body: (await answer.json()) as { code?: string } };
}
