import { loadavg } from 'node:os';
import type { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Outage } from './outage.ts';
import { describe, type Round } from './round.ts';
import type { Observation } from './traffic.ts';

type Say = (line: string) => void;

/** Prints what the rounds of one disturbance showed, by kind. @returns how many times the guarantee was broken. */
export function reportRounds(name: string, rounds: readonly Round[], say: Say): number {
  say(`\n${name}`);
  say(`  ${'way to lose a right'.padEnd(44)} rounds   slowest loss   permits begun > 1.0 s after   denied`);
  for (const loss of new Set(rounds.map((round) => round.loss))) {
    const own = rounds.filter((round) => round.loss === loss);
    const slowest = Math.max(...own.map(({ slowestMs }) => slowestMs));
    const late = sum(own.map(({ permittedLate }) => permittedLate.length));
    const codes = [...new Set(own.flatMap(({ refusals }) => [...refusals]))].join(', ');
    say(
      `  ${loss.padEnd(44)} ${String(own.length).padStart(6)}   ${`${slowest.toFixed(0)} ms`.padStart(12)}   ` +
        `${String(late).padStart(28)}   ${String(sum(own.map(({ denied }) => denied))).padStart(6)}   ${codes}`,
    );
  }
  const late = rounds.flatMap(({ permittedLate }) => permittedLate);
  const notDenied = rounds.flatMap((round) => round.notDenied);
  const wrong = rounds.flatMap(({ wrongFates }) => wrongFates);
  say(
    `  ${sum(rounds.map(({ asked }) => asked))} requests begun over 1.0 s after the 2xx, ${late.length} permitted; ` +
      `${sum(rounds.map(({ unconfirmed }) => unconfirmed))} events ended as credential_revoked, ${wrong.length} with a wrong fate`,
  );
  listed('permitted late', late.map(sentence), say);
  listed('cut off and not denied', notDenied.map(sentence), say);
  listed('wrong fate', wrong, say);
  return late.length + notDenied.length + wrong.length;
}

/** @returns how many times the guarantee was broken. */
export function reportOutage(outage: Outage, say: Say): number {
  const { revokedKey } = outage;
  say(`\nidentity killed for ${outage.seconds} s`);
  say(`  management: ${outage.denied} denied with 503, ${outage.notDenied.length} answered otherwise`);
  say(
    `  ingestion: ${outage.accepted} accepted, ${outage.notAccepted.length} not; ${outage.lost} of them not stored`,
  );
  say(
    `  recovery: the last denial began ${outage.recoveryMs.toFixed(0)} ms after its return, ` +
      `${outage.notRecovered.length} requests begun over 1.0 s after it were not permitted`,
  );
  say(
    `  a key revoked meanwhile: ${revokedKey.stored} events stored, ${revokedKey.refused} ended as credential_revoked, ` +
      `${revokedKey.wrong.length} with a wrong fate, ${outage.revokedPermitted} accepted over 1.0 s after the return`,
  );
  listed('not denied', outage.notDenied, say);
  listed('not accepted', outage.notAccepted, say);
  listed('not recovered', outage.notRecovered, say);
  listed('wrong fate', revokedKey.wrong, say);
  return (
    outage.notDenied.length +
    outage.notAccepted.length +
    outage.notRecovered.length +
    revokedKey.wrong.length +
    outage.lost +
    outage.revokedPermitted
  );
}

/** How busy the machine was, and how late this program itself: times of a busy machine are its own as well. */
export function reportLoad(delay: ReturnType<typeof monitorEventLoopDelay>, say: Say): void {
  const [one = 0, five = 0] = loadavg();
  const lateMs = (delay.max / 1e6).toFixed(0);
  const p99Ms = (delay.percentile(99) / 1e6).toFixed(0);
  say(
    `  machine: load ${one.toFixed(1)} over a minute, ${five.toFixed(1)} over five; this program late by p99 ${p99Ms} ms, at most ${lateMs} ms`,
  );
  delay.reset();
}

const SHOWN = 10;

function listed(what: string, lines: readonly string[], say: Say): void {
  for (const line of lines.slice(0, SHOWN)) say(`    ${what}: ${line}`);
  if (lines.length > SHOWN) say(`    ${what}: and ${lines.length - SHOWN} more`);
}

function sentence(each: Observation): string {
  return `${each.target.name}: ${describe(each)}`;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
