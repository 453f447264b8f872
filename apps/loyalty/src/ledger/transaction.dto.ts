import { ApiProperty } from '@nestjs/swagger';

/** What a transaction did to one lot. */
export class LineDto {
  @ApiProperty({ format: 'uuid', description: 'The credit that opened the lot.' }) lot_id: string;
  @ApiProperty({ type: 'integer' }) points: number;
}

/** Who made a transaction. */
export class TransactionActorDto {
  @ApiProperty({ example: 'rule' }) type: string;
  @ApiProperty({ example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f' }) id: string;
}

/** A row of the ledger (loyalty.md §3). After an erasure what could tell whose it was is null. */
export class TransactionDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) contact_id: string | null;
  @ApiProperty({ enum: ['earn', 'adjust', 'spend', 'expire', 'reverse'] }) kind: string;
  @ApiProperty({ type: 'integer' }) points: number;
  @ApiProperty({ type: [LineDto] }) lines: LineDto[];
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) rule_id: string | null;
  @ApiProperty({ nullable: true, type: 'integer' }) rule_version: number | null;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) event_id: string | null;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) reverses_id: string | null;
  @ApiProperty({ nullable: true, type: 'string' }) reason: string | null;
  @ApiProperty({ nullable: true, type: 'string' }) reference: string | null;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) expires_at: string | null;
  @ApiProperty({ type: TransactionActorDto }) actor: TransactionActorDto;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) occurred_at: string | null;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) correlation_id: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) tombstoned_at: string | null;
}

/** A lot that will end. */
export class ExpiringLotDto {
  @ApiProperty({ format: 'uuid' }) lot_id: string;
  @ApiProperty({ type: 'integer' }) points: number;
  @ApiProperty({ format: 'date-time' }) expires_at: string;
}

/** A contact's points (loyalty.md §4). */
export class BalanceDto {
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ type: 'integer', description: 'Sum of all lines.' }) points: number;
  @ApiProperty({ type: 'integer', description: 'Less lots whose end has come.' }) available: number;
  @ApiProperty({ type: [ExpiringLotDto], description: 'The next 100 lots to end.' })
  expiring: ExpiringLotDto[];
  @ApiProperty({ format: 'date-time' }) as_of: string;
}
