import { signingPair } from './dkim-pairs.js';
import { keyOf, type DnsRecords, type Findings, type WantedRecord } from './dns-records.js';
import type { SenderDomainDto, SenderDomainRecordDto } from './sender-domain.dto.js';
import type { SenderDomainEntity } from './sender-domain.entity.js';

/** A domain as it is answered; of its keys it shows the public ones alone. */
export function toSenderDomainDto(row: SenderDomainEntity, records: DnsRecords): SenderDomainDto {
  return {
    id: row.id,
    domain: row.domain,
    state: row.state,
    selector: signingPair(row.dkimKeys).selector,
    records: records.of(row).map((record) => toRecordDto(record, row.findings)),
    failing_since: row.failingSince?.toISOString() ?? null,
    verified_at: row.verifiedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}

function toRecordDto(record: WantedRecord, findings: Findings): SenderDomainRecordDto {
  const finding = findings[keyOf(record)];
  const { purpose, type, name, value, required } = record;
  return {
    purpose,
    type,
    name,
    value,
    required,
    status: finding?.status ?? 'unchecked',
    fault: finding?.fault ?? null,
    checked_at: finding?.at ?? null,
  };
}
