/**
 * `npm run load -- member [--rate N] [--duration S]`: what a member's page calls, with the tokens of 200 contacts of the
 * demo organization of the running platform; best after `npm run load -- seed`.
 */
import { join } from 'node:path';
import type { Client } from '@customer-platform/client';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';
import { runMixed } from '../mixed-calls.ts';
import { callLines, figuresOf } from '../management/report.ts';

/** p95 that is aimed at (the public contract, "Latency"); the budget is 150 ms. */
const AIM_MS = 40;
const TOKENS = 200;

/** What is loaded, and with what. */
interface MemberLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
}

async function tokenOf(admin: Client, externalId: string): Promise<string> {
  const body = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' as const,
    subject_token: externalId,
    subject_token_type: 'urn:customer-platform:token-type:external-id' as const,
  };
  return (await admin.POST('/v1/core/members/token-exchange', { body })).data.access_token;
}

/** Runs it and prints the figures of each call. */
export async function runMember(load: MemberLoad, say: (line: string) => void): Promise<void> {
  const { platform, k6, rate, duration } = load;
  say(`member: ${rate} requests/s of core's member routes, mixed, for ${duration} s`);
  const admin = await adminOf(platform);
  const query = { limit: TOKENS, 'external_id[is_null]': false };
  const { data: contacts } = await admin.GET('/v1/core/contacts', { params: { query } });
  if (contacts.data.length === 0)
    throw new Error('There is no contact yet: run "npm run load -- seed" first.');
  const externalIds = contacts.data.map(({ external_id: externalId }) => externalId ?? '');
  const tokens = [];
  for (const externalId of externalIds) tokens.push(await tokenOf(admin, externalId));
  const { metrics, calls, dropped, failed } = await runMixed({
    k6,
    script: join(import.meta.dirname, 'member.k6.js'),
    target: platform.base_url,
    key: platform.admin_key,
    rate,
    duration,
    sample: { externalIds, tokens },
  });
  for (const line of callLines(figuresOf(metrics), AIM_MS)) say(line);
  say(`  ${calls} calls, ${dropped} dropped, ${failed} not answered as they should be`);
  if (failed > 0 || dropped > 0) process.exitCode = 1;
}
