import type { RequestContext } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { ERASING } from './erasure/receipts.js';
import type { ReceiptDto, ResultDto, SubjectRequestDto } from './subject-request.dto.js';
import { REQUEST_COLUMNS, type SubjectRequestRow } from './subject-request.row.js';

/** A request with its receipts, read by one statement: of one moment, whatever ends meanwhile. */
export const SHOWN = `
  SELECT ${REQUEST_COLUMNS},
         (SELECT coalesce(jsonb_agg(jsonb_build_object('module', module, 'state', receipt.state, 'counts', counts,
                                                       'signature', signature)), '[]')
            FROM subject_request_receipts AS receipt
           WHERE receipt.organization_id = subject_requests.organization_id
             AND receipt.subject_request_id = subject_requests.id) AS receipts
    FROM subject_requests`;

/** A row of {@link SHOWN}. */
export type ShownRow = SubjectRequestRow & { receipts: ReceiptDto[] };

/** What is written about the person is as much of them as what stands in their contact. */
const PERSON: Permission = 'core.contacts.read';

/** Whose permissions say whether words about the person are shown. */
type Sight = Pick<RequestContext, 'can'>;

/** A request as the API shows it; words about the person only to who may read contacts. */
export function toSubjectRequestDto(row: ShownRow, now: Date, sight: Sight): SubjectRequestDto {
  return toDto(sight.can(PERSON) ? row : withoutWords(row), now);
}

function withoutWords(row: ShownRow): ShownRow {
  return {
    ...row,
    note: null,
    corrections: null,
    outcome: null,
    rejection_detail: null,
    verification_reference: null,
  };
}

function toDto(row: ShownRow, now: Date): SubjectRequestDto {
  const isOpen = row.state === 'verifying' || row.state === 'in_progress';
  return {
    id: row.id,
    type: row.type,
    state: row.state,
    contact_id: row.contact_id,
    jurisdiction: row.jurisdiction,
    received_at: row.received_at.toISOString(),
    due_at: row.due_at.toISOString(),
    overdue: isOpen && row.due_at < now,
    ...said(row),
    note: row.note,
    corrections: row.corrections,
    purposes: row.purposes,
    outcome: row.outcome,
    receipts: row.type === 'erasure' && row.verified_at ? receiptsOf(row.receipts) : [],
    result: resultOf(row),
    completed_at: row.completed_at?.toISOString() ?? null,
    residual_until: row.residual_until?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function said(row: SubjectRequestRow): Pick<SubjectRequestDto, 'verification' | 'extension' | 'rejection'> {
  const { verification_method: method, verification_reference: reference, verified_at: at } = row;
  const { extension_reason: reason, extended_at: extended } = row;
  const { rejection_ground: ground, rejection_detail: detail } = row;
  return {
    verification: method !== null && at ? { method, reference, verified_at: at.toISOString() } : null,
    extension: reason !== null && extended ? { reason, extended_at: extended.toISOString() } : null,
    rejection: ground === null ? null : { ground, detail },
  };
}

function resultOf(row: SubjectRequestRow): ResultDto | null {
  const { result_sha256: sha256, result_bytes: bytes, result_expires_at: end } = row;
  return sha256 === null || bytes === null || !end
    ? null
    : { sha256, bytes: Number(bytes), expires_at: end.toISOString() };
}

/** One of each module that has to answer. */
function receiptsOf(given: readonly ReceiptDto[]): ReceiptDto[] {
  return ERASING.map((module) => {
    const receipt = given.find((each) => each.module === module);
    return receipt ?? { module, state: 'pending', counts: null, signature: null };
  });
}
