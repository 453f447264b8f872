import type { NewDomainEvent } from '@customer-platform/event-bus';
import { FIELD_NAMES } from '../vocabulary/contacts/contact-field-table.js';
import type { ArchiveLocale } from './archive/texts.js';
import type { JurisdictionCode } from './jurisdictions.js';

/** What people may ask for by law (core.md §10). */
export const REQUEST_TYPES = [
  'access',
  'erasure',
  'portability',
  'rectification',
  'opposition',
  'blocking',
] as const;

/** What an archive answers; the platform makes it. */
export const ARCHIVED: readonly RequestType[] = ['access', 'portability'];

/** What staff does and then completes with an outcome. */
export const BY_HAND: readonly RequestType[] = ['rectification', 'opposition', 'blocking'];

/** One of {@link REQUEST_TYPES}. */
export type RequestType = (typeof REQUEST_TYPES)[number];

/** What can be the matter with a request. */
export const REQUEST_STATES = ['verifying', 'in_progress', 'completed', 'rejected'] as const;

/** Why a request is not granted. */
export const GROUNDS = [
  'not_verified',
  'not_the_person',
  'legal_obligation',
  'unfounded',
  'repeated',
  'other',
] as const;

/** What of a contact may be asked to be corrected; an attribute is named `attributes.<key>`. */
export const CORRECTED = [...FIELD_NAMES, 'national_id', 'other'] as const;

/** A value that the person wants; null to have it taken away, or where it stands elsewhere. */
interface Correction {
  field: string;
  value: string | null;
}

/** A row of the table of requests. */
export interface SubjectRequestRow {
  id: string;
  type: RequestType;
  state: (typeof REQUEST_STATES)[number];
  contact_id: string;
  jurisdiction: JurisdictionCode;
  received_at: Date;
  due_at: Date;
  verification_method: string | null;
  verification_reference: string | null;
  verified_at: Date | null;
  extended_at: Date | null;
  extension_reason: string | null;
  rejection_ground: (typeof GROUNDS)[number] | null;
  rejection_detail: string | null;
  note: string | null;
  /** Of a rectification, until it ends. */
  corrections: Correction[] | null;
  /** Of an opposition. */
  purposes: string[] | null;
  outcome: string | null;
  correlation_id: string;
  completed_at: Date | null;
  residual_until: Date | null;
  locale: ArchiveLocale | null;
  result_sha256: string | null;
  /** A bigint, as PostgreSQL's driver has it. */
  result_bytes: string | null;
  result_expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** The columns of {@link SubjectRequestRow}. */
export const REQUEST_COLUMNS = `id, type, state, contact_id, jurisdiction, received_at, due_at, verification_method,
  verification_reference, verified_at, extended_at, extension_reason, rejection_ground, rejection_detail, note,
  corrections, purposes, outcome, correlation_id, completed_at, residual_until, locale, result_sha256, result_bytes,
  result_expires_at, created_at, updated_at`;

/** `core.subject_request.<verb>`, with the request as it is now. */
export function requestEvent(
  organizationId: string,
  row: SubjectRequestRow,
  verb: 'received' | 'due_soon' | 'extended' | 'rejected' | 'completed',
): NewDomainEvent {
  const { id, type, contact_id: contactId, due_at: due } = row;
  const data = { subject_request_id: id, type, contact_id: contactId, due_at: due.toISOString() };
  const told = {
    organizationId,
    key: id,
    subject: `subject-requests/${id}`,
    correlationId: row.correlation_id,
  };
  switch (verb) {
    case 'extended':
      return {
        ...told,
        type: 'core.subject_request.extended.v1',
        data: { ...data, reason: row.extension_reason ?? '' },
      };
    case 'rejected':
      return {
        ...told,
        type: 'core.subject_request.rejected.v1',
        data: { ...data, ground: row.rejection_ground ?? 'other' },
      };
    default:
      return { ...told, type: `core.subject_request.${verb}.v1`, data };
  }
}
