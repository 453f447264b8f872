import { setChannels, localMail } from '@customer-platform/kit/channel-settings.ts';
import { type Platform, request } from '@customer-platform/kit/platform.ts';

/** How a send comes to the gate. The mailbox is the same; the tag behind it tells them apart, and blocks nothing. */
export const WAYS = ['api', 'routing', 'retry', 'quiet', 'campaign'] as const;
export type Way = (typeof WAYS)[number];

type Answer = Awaited<ReturnType<typeof request>>;

/** An address of a mailbox for a way: the API's is the mailbox itself. */
export function addressOf(mailbox: string, way: Way): string {
  return way === 'api' ? mailbox : mailbox.replace('@', `+${way}@`);
}

/** The mailbox and the way of an address. */
export function wayOf(address: string): { mailbox: string; way: Way } {
  const tag = /\+([a-z]+)@/.exec(address)?.[1];
  return { mailbox: address.replace(/\+[a-z]+@/, '@'), way: WAYS.find((way) => way === tag) ?? 'api' };
}

/** All ways but the campaigns', made ready. */
export interface OpenWays {
  /** The rule whose sends are the routed ones. */
  ruleId: string;
  /** What campaigns say, too. */
  templateId: string;
  /** Milliseconds from now until the quiet hours end. */
  quietMs: number;
  /** Sends, or makes core tell of what is routed. @returns the status and the problem's code */
  send(mailbox: string, way: Way): Promise<{ status: number; code: string }>;
  /** Takes the rule and the template away and puts the settings back. */
  close(): Promise<void>;
}

const BUSY = 503;
const BUSY_PAUSE_MS = 250;
const LEAST_QUIET_MS = 15_000;
const MINUTE_MS = 60_000;

/** Points mail at a local server, begins quiet hours that end soon, and makes a rule for an event of this run. */
export async function openWays(platform: Platform, run: string, port: number): Promise<OpenWays> {
  const now = Date.now();
  const end = Math.ceil((now + LEAST_QUIET_MS) / MINUTE_MS) * MINUTE_MS;
  const clock = (at: number): string => new Date(at).toISOString().slice(11, 16);
  const quiet = { start: clock(now - MINUTE_MS), end: clock(end), timezone: 'UTC' };
  const settings = await setChannels(platform, { email: localMail(port) }, { quiet_hours: quiet });
  const template = await made(platform, 'templates', {
    name: `Race ${run}`,
    channel: 'email',
    default_locale: 'en',
    locales: { en: { subject: 'Race', text: 'Under way.' } },
  });
  const rule = await made(platform, 'event-routing', {
    name: `Race ${run}`,
    enabled: true,
    event_type: 'core.event.recorded',
    event_name: `race_${run}`,
    channel: 'email',
    template_id: template,
    recipient: { from: 'event', path: 'properties.address' },
    category: 'transactional',
  });
  return {
    ruleId: rule,
    templateId: template,
    quietMs: end - now,
    send: (mailbox, way) =>
      way === 'routing' ? track(platform, run, mailbox) : send(platform, mailbox, way),
    close: async () => {
      await request(platform, 'DELETE', `/v1/messaging/event-routing/${rule}`);
      await request(platform, 'DELETE', `/v1/messaging/templates/${template}`);
      await settings.restore();
    },
  };
}

async function made(platform: Platform, resource: string, body: object): Promise<string> {
  const answer = await request(platform, 'POST', `/v1/messaging/${resource}`, body);
  return (answer.body as { id: string }).id;
}

async function send(platform: Platform, mailbox: string, way: Way) {
  const address = addressOf(mailbox, way);
  const body = {
    channel: 'email',
    recipient: { address },
    content: { subject: `Race by ${way}`, text: 'Under way.' },
    category: way === 'quiet' ? 'marketing' : 'transactional',
  };
  const headers = { 'idempotency-key': address };
  const options = { allow: [422, BUSY], headers };
  return answered(await unlessBusy(() => request(platform, 'POST', '/v1/messaging/sends', body, options)));
}

async function track(platform: Platform, run: string, mailbox: string) {
  const body = {
    event: `race_${run}`,
    external_id: `race-${run}`,
    idempotency_key: mailbox,
    occurred_at: new Date().toISOString(),
    properties: { address: addressOf(mailbox, 'routing') },
  };
  const options = { allow: [BUSY] };
  return answered(await unlessBusy(() => request(platform, 'POST', '/v1/core/track', body, options)));
}

/** An overrun machine says 503: the caller comes back with the same key, as callers do. */
export async function unlessBusy(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer.status !== BUSY) return answer;
    await new Promise((done) => setTimeout(done, BUSY_PAUSE_MS));
  }
}

function answered({ status, body }: Answer): { status: number; code: string } {
  return { status, code: (body as { code?: string }).code ?? 'accepted' };
}
