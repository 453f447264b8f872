/**
 * `npm run race -- [--addresses N] [--sends N] [--seconds N]`
 *
 * The promise of the dispatch gate, tried from outside: mail to many addresses is under way while each address is
 * suppressed at a random instant. After a suppression's 201 no SMTP DATA for that address may begin.
 *
 * Runs against the platform that `npm start` runs, points the demo organization's e-mail at a sink of its own for
 * that time, and puts the settings back. Ends with exit code 1 if the promise was broken once.
 */
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Platform, get, readPlatform, request } from '@customer-platform/client/platform.ts';
import { pointMailAt } from '@customer-platform/client/mail-settings.ts';
import { Sink } from '@customer-platform/client/sink.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    addresses: { type: 'string', default: '1000' },
    sends: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '20' },
    data: { type: 'string', default: join(root, '.data') },
  },
});
const SLOWEST_SINK_MS = 40;
const SETTLED_WITHIN_MS = 120_000;
const AT_ONCE = 64;

interface Tally {
  accepted: number;
  refused: number;
  problems: Map<string, number>;
  /** Milliseconds at which each address's suppression was answered 201. */
  suppressedAt: Map<string, number>;
  suppressionMs: number[];
}

async function main(): Promise<void> {
  const platform = readPlatform(values.data);
  const sink = new Sink(SLOWEST_SINK_MS);
  const port = await sink.listen();
  const restore = await pointMailAt(platform, port);
  try {
    const run = randomUUID().slice(0, 8);
    const addresses = Array.from(
      { length: Number(values.addresses) },
      (_, i) => `race-${run}-${i}@example.com`,
    );
    const tally = await raceAll(platform, addresses);
    await settled(platform, run);
    report(tally, sink, addresses.length);
  } finally {
    await restore();
    await sink.close();
  }
}

async function raceAll(platform: Platform, addresses: string[]): Promise<Tally> {
  const tally: Tally = {
    accepted: 0,
    refused: 0,
    problems: new Map(),
    suppressedAt: new Map(),
    suppressionMs: [],
  };
  const span = Number(values.seconds) * 1000;
  const actions = addresses.flatMap((address) => [
    ...Array.from({ length: Number(values.sends) }, (_, n) => ({
      at: Math.random() * span,
      run: () => send(platform, address, n, tally),
    })),
    { at: Math.random() * span, run: () => suppress(platform, address, tally) },
  ]);
  actions.sort((a, b) => a.at - b.at);
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let action = actions[next++]; action !== undefined; action = actions[next++]) {
        const early = action.at - (performance.now() - began);
        if (early > 0) await new Promise((done) => setTimeout(done, early));
        await action.run();
      }
    }),
  );
  return tally;
}

async function send(platform: Platform, address: string, n: number, tally: Tally): Promise<void> {
  const body = {
    channel: 'email',
    recipient: { address },
    content: { subject: `Race ${n}`, text: 'Under way.' },
    category: n % 2 === 0 ? 'transactional' : 'marketing',
  };
  const answer = await request(platform, 'POST', '/v1/messaging/sends', body, {
    allow: [422],
    headers: { 'idempotency-key': `${address}-${n}` },
  });
  if (answer.status === 202) tally.accepted += 1;
  else tally.refused += 1;
  const code = String((answer.body as { code?: string }).code ?? 'accepted');
  tally.problems.set(code, (tally.problems.get(code) ?? 0) + 1);
}

async function suppress(platform: Platform, address: string, tally: Tally): Promise<void> {
  const began = performance.now();
  await request(platform, 'POST', '/v1/messaging/suppressions', {
    channel: 'email',
    address,
    reason: 'manual',
  });
  const at = performance.now();
  tally.suppressedAt.set(address, at);
  tally.suppressionMs.push(at - began);
}

/** Waits until no send of this run can still be handed off. */
async function settled(platform: Platform, run: string): Promise<void> {
  const open = 'accepted,rendering,gated,dispatching';
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const page = await get<{ data: unknown[] }>(platform, `/v1/messaging/sends?state[in]=${open}&limit=1`);
    if (page.data.length === 0) return;
    if (Date.now() > deadline) throw new Error(`Sends of run ${run} are still open after two minutes.`);
    await new Promise((done) => setTimeout(done, 250));
  }
}

function report(tally: Tally, sink: Sink, addresses: number): void {
  const late = sink.handOffs.filter(({ address, at }) => at > (tally.suppressedAt.get(address) ?? Infinity));
  const sorted = tally.suppressionMs.sort((a, b) => a - b);
  const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
  process.stdout.write(
    `${addresses} addresses, each suppressed at a random instant while ${values.sends} sends were made to it\n` +
      `  sends accepted ${tally.accepted}, refused ${tally.refused} ${JSON.stringify(Object.fromEntries(tally.problems))}\n` +
      `  mails handed off ${sink.handOffs.length}; the suppressions' 201 took p95 ${p95.toFixed(0)} ms\n` +
      `  SMTP DATA begun after the 201: ${late.length}\n`,
  );
  if (late.length > 0) process.exitCode = 1;
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
