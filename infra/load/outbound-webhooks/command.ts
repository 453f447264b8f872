/**
 * `npm run load -- outbound-webhooks [--rate N] [--duration S]`: how long events take until they are at customers'
 * servers. Two organizations with fifty webhook endpoints each; N people a second are made known to them by turns, and
 * each endpoint is told of each. First all of them answer, then one takes everything and answers nothing, which should
 * not show in the figures of the 99 others. In the end it answers again, and everything has to be everywhere.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { request, type Platform } from '@customer-platform/kit/platform.ts';
import { adminOf, orRefusal } from '@customer-platform/kit/public-api.ts';
import { foundOrganization } from '../organizations.ts';
import { Receivers } from './receivers.ts';

/** What is loaded, and how. */
interface OutboundWebhooksLoad {
  platform: Platform;
  /** Events a second; each is fifty deliveries. */
  rate: number;
  /** Seconds of each of the two parts. */
  duration: number;
}

interface Organization {
  platform: Platform;
  /** The numbers of its endpoints. */
  endpoints: number[];
  /** Their ids, to take them down by. */
  ids: string[];
  /** Whom they are to be told of. */
  people: string[];
}

/** Of events that no figure shows: what has just started is slower than it will be. */
const WARM_UP_S = 5;
const ORGANIZATIONS = 2;
const ENDPOINTS_EACH = 50;
/** It is one of the first organization's. */
const HANGING = 0;
/** Tries without an answer end after 15 s and are repeated after 5 s, and 5 min: what was tried twice waits that long. */
const PATIENCE_MS = 400_000;
const LOOK_EVERY_MS = 100;

/** Runs it and prints the figures; the command fails where anything was lost, doubled or told to the wrong ones. */
export async function runOutboundWebhooks(
  { platform, rate, duration }: OutboundWebhooksLoad,
  say: (line: string) => void,
): Promise<void> {
  const receivers = new Receivers();
  await receivers.start();
  const organizations: Organization[] = [];
  try {
    say(`outbound-webhooks: ${ORGANIZATIONS} organizations get ${ENDPOINTS_EACH} endpoints each …`);
    for (let number = 0; number < ORGANIZATIONS; number += 1)
      organizations.push(await found(platform, receivers, number * ENDPOINTS_EACH));
    await measured(organizations, receivers, { rate, duration: WARM_UP_S });
    say(`all answer: ${rate} events/s, ${rate * ENDPOINTS_EACH} deliveries/s, for ${duration} s`);
    const without = await measured(organizations, receivers, { rate, duration });
    say(`  the 99 others:         ${without.line}`);
    receivers.hang(HANGING);
    say(`one answers nothing: the same again, for ${duration} s`);
    const beside = await measured(organizations, receivers, { rate, duration });
    say(`  the 99 others:         ${beside.line}`);
    say(`  p95 beside one that hangs / without: ${(beside.p95 / without.p95).toFixed(2)}`);
    say(`  tries left without an answer: ${receivers.unanswered}`);
    receivers.release();
    await told(organizations, receivers, () => true);
    conclude(organizations, receivers, say);
  } finally {
    await takeDown(organizations);
    await receivers.stop();
  }
}

/** An organization below the demo's, with its endpoints. */
async function found(platform: Platform, receivers: Receivers, first: number): Promise<Organization> {
  const own = { ...platform, admin_key: await foundOrganization(platform) };
  const owner = await adminOf(own);
  const endpoints = Array.from({ length: ENDPOINTS_EACH }, (_, at) => first + at);
  const ids: string[] = [];
  for (const number of endpoints) {
    const body = {
      name: `load-${number}`,
      url: receivers.url(number),
      events: ['core.contact.created' as const],
    };
    ids.push((await owner.POST('/v1/messaging/webhook-endpoints', { body })).data.id);
  }
  return { platform: own, endpoints, ids, people: [] };
}

interface Measured {
  p95: number;
  line: string;
}

/** Makes people known at the rate, waits until those who answer have been told, and gives their figures. */
async function measured(
  organizations: readonly Organization[],
  receivers: Receivers,
  { rate, duration }: { rate: number; duration: number },
): Promise<Measured> {
  const run = randomUUID();
  const start = performance.now();
  const calls: Promise<void>[] = [];
  for (let at = 0; at < rate * duration; at += 1) {
    const early = start + (at * 1_000) / rate - performance.now();
    if (early > 1) await pause(early);
    const organization = organizations[at % organizations.length];
    if (organization) calls.push(introduce(organization, `${run}-${at}`));
  }
  await Promise.all(calls);
  await told(organizations, receivers, (endpoint) => endpoint !== HANGING);
  const latencies = receivers.receipts.latencies(
    ({ endpoint, person }) => endpoint !== HANGING && person.startsWith(run),
  );
  const of = (share: number): number => percentile(latencies, share);
  const [p50, p95, most] = [of(0.5), of(0.95), of(1)].map((value) => `${value.toFixed(0)} ms`);
  return {
    p95: of(0.95),
    line: `${latencies.length} receipts, event → receipt p50 ${p50}, p95 ${p95}, at most ${most}`,
  };
}

async function introduce({ platform, people }: Organization, person: string): Promise<void> {
  await request(platform, 'POST', '/v1/core/identify', {
    external_id: person,
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
    traits: { first_name: 'Load' },
  });
  people.push(person);
}

/** Waits until everything is where it was to come, of the endpoints that count; not for ever. */
async function told(
  organizations: readonly Organization[],
  receivers: Receivers,
  counts: (endpoint: number) => boolean,
): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  const complete = ({ endpoints, people }: Organization): boolean =>
    receivers.receipts.complete(endpoints.filter(counts), people);
  while (!organizations.every(complete) && Date.now() < deadline) await pause(LOOK_EVERY_MS);
}

function conclude(
  organizations: readonly Organization[],
  receivers: Receivers,
  say: (line: string) => void,
): void {
  const expected = new Map(
    organizations.flatMap(({ endpoints, people }) =>
      endpoints.map((endpoint) => [endpoint, people] as const),
    ),
  );
  const { lost, doubled, repeated, foreign, expected: all } = receivers.receipts.account(expected);
  say(
    `${all} deliveries to make: ${lost} lost, ${doubled} told under two ids, ${foreign} told to the wrong ones; ` +
      `${repeated} told again under the same id`,
  );
  if (lost + doubled + foreign > 0) process.exitCode = 1;
}

/** Nothing of theirs is tried any more when their receivers are gone. */
async function takeDown(organizations: readonly Organization[]): Promise<void> {
  for (const { platform, ids } of organizations) {
    const owner = await adminOf(platform);
    for (const id of ids)
      await orRefusal(
        owner.DELETE('/v1/messaging/webhook-endpoints/{id}', { params: { path: { id } } }),
        404,
      );
  }
}
