import type { Schemas } from '@customer-platform/client';
import type { Tone } from '../ui/badge.tsx';

export type SenderDomain = Schemas['SenderDomainDto'];
export type DomainRecord = Schemas['SenderDomainRecordDto'];
export type DomainState = SenderDomain['state'];

export const DOMAIN_STATES = ['pending', 'verified', 'failed'] as const satisfies readonly DomainState[];
export const DOMAIN_SORTS = ['domain', '-domain', 'created_at', '-created_at'] as const;
export type DomainSort = (typeof DOMAIN_SORTS)[number];

export const RECORD_STATUSES = [
  'unchecked',
  'found',
  'missing',
  'wrong',
] as const satisfies readonly DomainRecord['status'][];

export const RECORD_FAULTS = [
  'other_value',
  'several_records',
  'invalid',
  'revoked',
  'too_many_lookups',
  'not_included',
  'permits_all',
  'too_large',
] as const satisfies readonly DomainRecord['fault'][];

export const STATE_TONES: Record<DomainState, Tone> = { pending: 'warn', verified: 'good', failed: 'bad' };

export const STATUS_TONES: Record<DomainRecord['status'], Tone> = {
  unchecked: 'neutral',
  found: 'good',
  missing: 'warn',
  wrong: 'bad',
};

/** A verified domain may be without a required record for so long (messaging.md §10). */
const FAILS_AFTER_MS = 72 * 3_600_000;

/** When a domain that has been without a required record stops sending. */
export function failsAt(failingSince: string): string {
  return new Date(Date.parse(failingSince) + FAILS_AFTER_MS).toISOString();
}

/** What a record is for, in more words than its purpose has. */
export const ROLES = [
  'ownership',
  'signs',
  'signs_beside',
  'signs_next',
  'signed_before',
  'spf',
  'dmarc',
  'return_path',
] as const;
export type Role = (typeof ROLES)[number];

/** The records of a domain, each with what it is for. */
export function rolesOf({ records, selector }: Pick<SenderDomain, 'records' | 'selector'>) {
  // The API names keys that wait first, then the pair that signs, then those of before.
  const signing = records.findIndex(({ name }) => name.startsWith(`${selector}._domainkey.`));
  return records.map((record, at) => ({ record, role: roleOf(record, at - signing) }));
}

function roleOf(record: DomainRecord, afterSigning: number): Role {
  if (record.purpose !== 'dkim') return record.purpose;
  if (afterSigning < 0) return 'signs_next';
  if (afterSigning === 0) return 'signs';
  return afterSigning === 1 ? 'signs_beside' : 'signed_before';
}

/** How many of the records that a domain is verified by are found. */
export function foundOf(records: readonly DomainRecord[]): { found: number; of: number } {
  const required = records.filter((record) => record.required);
  return { found: required.filter(({ status }) => status === 'found').length, of: required.length };
}
