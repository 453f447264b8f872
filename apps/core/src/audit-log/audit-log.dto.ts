import { ApiProperty } from '@nestjs/swagger';
import type { ListDefinition } from '@customer-platform/http';

const HASH = {
  description: 'SHA-256, lower-case hex.',
  pattern: '^[0-9a-f]{64}$',
  example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
};

/** Who acted. */
class AuditActorDto {
  @ApiProperty()
  type: string;

  @ApiProperty()
  id: string;

  @ApiProperty({ type: String, nullable: true, description: 'The user who acted as another.' })
  impersonator_id: string | null;
}

/** What was acted on. */
class AuditResourceDto {
  @ApiProperty()
  type: string;

  @ApiProperty()
  id: string;
}

/** One act, at its place in the organization's chain. */
export class AuditEntryDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Its place in the chain, without gaps.' })
  seq: number;

  @ApiProperty({ format: 'date-time' })
  occurred_at: string;

  @ApiProperty({ type: AuditActorDto })
  actor: AuditActorDto;

  @ApiProperty({ description: 'In the form of a permission.', example: 'core.consents.write' })
  action: string;

  @ApiProperty()
  module: string;

  @ApiProperty({ type: AuditResourceDto })
  resource: AuditResourceDto;

  @ApiProperty({ enum: ['success', 'denied'] })
  outcome: 'success' | 'denied';

  @ApiProperty({ type: [String], description: 'Names of fields; never their values.' })
  changed_fields: string[];

  @ApiProperty({ format: 'uuid' })
  correlation_id: string;

  @ApiProperty({ type: String, nullable: true })
  ip: string | null;

  @ApiProperty({ type: String, nullable: true })
  user_agent: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'The caller’s own words.' })
  reason: string | null;

  @ApiProperty({ format: 'date-time', description: 'When it came into the log.' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  updated_at: string;

  @ApiProperty({ ...HASH, description: 'The hash of the row before it; zeros before the first.' })
  prev_hash: string;

  @ApiProperty({
    ...HASH,
    description: 'SHA-256(prev_hash ‖ JCS(row without `prev_hash` and `hash`)), JCS being RFC 8785.',
  })
  hash: string;
}

/** A signed statement of what the chain was. */
class AuditCheckpointDto {
  @ApiProperty({ type: 'integer' })
  seq: number;

  @ApiProperty(HASH)
  hash: string;

  @ApiProperty({ description: 'RFC 7638 thumbprint of the key.' })
  kid: string;

  @ApiProperty({
    description: 'A compact JWS (ES256) over the canonical JSON of organization_id, seq and hash.',
  })
  signature: string;
}

/** What is known of the chain as a whole. */
export class AuditChainDto {
  @ApiProperty({ type: 'integer', description: '0 while the log is empty.' })
  head_seq: number;

  @ApiProperty(HASH)
  head_hash: string;

  @ApiProperty({ enum: ['intact', 'broken'], description: 'What the last verification found.' })
  status: 'intact' | 'broken';

  @ApiProperty({ type: 'integer', nullable: true, description: 'The first row that is not what it was.' })
  broken_at_seq: number | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the whole chain was last found intact.',
  })
  verified_at: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The last row that was found intact then; what came later is verified the next time.',
  })
  verified_seq: number | null;

  @ApiProperty({ type: AuditCheckpointDto, nullable: true, description: 'The latest.' })
  checkpoint: AuditCheckpointDto | null;
}

/** Where a page ends. */
class AuditPageInfoDto {
  @ApiProperty({ type: 'integer' })
  limit: number;

  @ApiProperty({ type: String, nullable: true })
  next_cursor: string | null;
}

/** A page of the audit log, and what is known of its chain. */
export class AuditLogDto {
  @ApiProperty({ type: [AuditEntryDto] })
  data: AuditEntryDto[];

  @ApiProperty({ type: AuditPageInfoDto })
  page: AuditPageInfoDto;

  @ApiProperty({ type: AuditChainDto })
  chain: AuditChainDto;
}

/** What `GET /v1/core/audit-log` takes (core.md §13). */
export const AUDIT_LIST: ListDefinition = {
  resource: 'core.audit-log',
  filters: {
    seq: { type: 'integer', column: 'seq' },
    actor_id: { type: 'string', column: 'actor_id' },
    action: { type: 'string', column: 'action' },
    module: { type: 'string', column: 'module' },
    resource_type: { type: 'string', column: 'resource_type' },
    resource_id: { type: 'string', column: 'resource_id' },
    outcome: { type: 'enum', column: 'outcome', values: ['success', 'denied'] },
    occurred_at: { type: 'time', column: 'occurred_at' },
    correlation_id: { type: 'uuid', column: 'correlation_id' },
  },
  sorts: { seq: { type: 'integer', column: 'seq' } },
  defaultSort: '-seq',
};
