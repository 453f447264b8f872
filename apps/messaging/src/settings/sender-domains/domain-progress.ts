import { signingPair, selectorOf, switched, waitingPair, withoutOld, type DkimPair } from './dkim-pairs.js';
import type { DomainCheck } from './dns/domain-checker.js';
import { keyOf, type DnsRecords, type Findings } from './dns-records.js';
import type { DomainState, SenderDomainEntity } from './sender-domain.entity.js';

const HOUR_MS = 3_600_000;
const DAILY_MS = 24 * HOUR_MS;
/** A verified domain may be without its records for so long (messaging.md §10). */
const FAILS_AFTER_MS = 72 * HOUR_MS;
/** Where DNS did not answer about a required record of a domain that mail leaves from. */
const ASK_AGAIN_MS = HOUR_MS;

/** What a check makes of a domain. */
export interface Progress {
  readonly state: DomainState;
  readonly dkimKeys: DkimPair[];
  readonly findings: Findings;
  readonly failingSince: Date | null;
  readonly verifiedAt: Date | null;
  readonly nextCheckAt: Date;
}

type Row = Pick<
  SenderDomainEntity,
  'organizationId' | 'domain' | 'state' | 'dkimKeys' | 'findings' | 'failingSince' | 'verifiedAt'
>;

/**
 * How a domain goes on after a check. What DNS was silent about stays as it was: only an answer proves a domain, and
 * only an answer counts against it.
 */
export function progressOf(row: Row, { askedAt, findings }: DomainCheck, records: DnsRecords): Progress {
  const dkimKeys = withoutOld(rotated(row, findings, askedAt), askedAt);
  const wanted = records.of({ ...row, dkimKeys });
  const known = { ...row.findings, ...findings };
  const kept = wanted.flatMap((record) => {
    const finding = known[keyOf(record)];
    return finding ? [[keyOf(record), finding] as const] : [];
  });
  const required = wanted.filter((record) => record.required).map((record) => findings[keyOf(record)]);
  const next = { dkimKeys, findings: Object.fromEntries(kept) };
  if (required.some((finding) => finding !== undefined && finding.status !== 'found'))
    return { ...next, ...unproven(row, askedAt) };
  if (required.includes(undefined)) return { ...next, ...unchanged(row, askedAt) };
  return {
    ...next,
    state: 'verified',
    failingSince: null,
    verifiedAt: row.state === 'verified' ? row.verifiedAt : askedAt,
    nextCheckAt: after(askedAt, DAILY_MS),
  };
}

/** The pair that waits signs from the moment on that its RSA record is found. */
function rotated({ domain, dkimKeys }: Row, findings: Findings, now: Date): DkimPair[] {
  const waiting = waitingPair(dkimKeys);
  if (!waiting || !isPublished(findings, domain, waiting, 'rsa')) return dkimKeys;
  return switched(dkimKeys, now);
}

type Standing = Pick<Progress, 'state' | 'failingSince' | 'verifiedAt' | 'nextCheckAt'>;

function unproven(row: Row, now: Date): Standing {
  const { verifiedAt, state } = row;
  const daily = after(now, DAILY_MS);
  if (state !== 'verified') return { state, verifiedAt, failingSince: row.failingSince, nextCheckAt: daily };
  const failingSince = row.failingSince ?? now;
  const end = after(failingSince, FAILS_AFTER_MS);
  if (end <= now) return { state: 'failed', verifiedAt, failingSince, nextCheckAt: daily };
  return { state, verifiedAt, failingSince, nextCheckAt: end < daily ? end : daily };
}

function unchanged({ state, failingSince, verifiedAt }: Row, now: Date): Standing {
  return {
    state,
    failingSince,
    verifiedAt,
    nextCheckAt: after(now, state === 'verified' ? ASK_AGAIN_MS : DAILY_MS),
  };
}

/** Whether the record of a key was there when DNS was last asked. */
function isPublished(
  findings: Findings,
  domain: string,
  pair: Pick<DkimPair, 'selector'>,
  algorithm: 'rsa' | 'ed25519',
): boolean {
  const name = `${selectorOf(pair, algorithm)}._domainkey.${domain}`;
  return findings[keyOf({ purpose: 'dkim', name })]?.status === 'found';
}

/** The keys that sign: RSA, and the other where its record is found. */
export function signingKeys(row: {
  readonly domain: string;
  readonly dkimKeys: readonly DkimPair[];
  readonly findings: Findings;
}) {
  const pair = signingPair(row.dkimKeys);
  const algorithms = isPublished(row.findings, row.domain, pair, 'ed25519')
    ? (['rsa', 'ed25519'] as const)
    : (['rsa'] as const);
  return algorithms.map((algorithm) => ({
    algorithm,
    pairSelector: pair.selector,
    selector: selectorOf(pair, algorithm),
    sealed: pair[algorithm].private,
  }));
}

function after(time: Date, milliseconds: number): Date {
  return new Date(time.getTime() + milliseconds);
}
