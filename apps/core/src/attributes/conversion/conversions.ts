import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { AttributeHolds } from '../../segments/building/attribute-holds.js';
import type { OnFailure } from '../../vocabulary/attributes/declaration.js';
import type { AttributeDefinition } from '../attribute-definition.entity.js';
import { ConversionSignal } from './conversion.signal.js';

/** How far a conversion has come. */
export interface ConversionRow {
  definition_id: string;
  initial: boolean;
  on_failure: OnFailure;
  phase: 'verifying' | 'converting' | 'ending' | 'cancelling';
  cursor_id: string | null;
  total: number;
  processed: number;
  converted: number;
  cleared: number;
  correlation_id: string;
  started_at: Date;
}

/** How far a step came; what is not said stays. */
export type Progress = Pick<ConversionRow, 'phase' | 'cursor_id' | 'processed'> &
  Partial<Pick<ConversionRow, 'converted' | 'cleared'>>;

/** The columns of {@link ConversionRow}. */
export const CONVERSION_COLUMNS = `definition_id, initial, on_failure, phase, cursor_id, total, processed, converted, cleared,
  correlation_id, started_at`;

const BEGIN = `
  INSERT INTO attribute_conversions (organization_id, definition_id, initial, on_failure, phase, total, correlation_id,
                                     started_at, moved_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)`;

const OF = `
  SELECT ${CONVERSION_COLUMNS} FROM attribute_conversions WHERE organization_id = $1 AND definition_id = ANY($2::uuid[])`;

/** What a conversion is begun with. */
export interface Beginning {
  /** Of a new or restored definition: it holds for what is written already. */
  readonly initial: boolean;
  readonly onFailure: OnFailure;
  /** Contacts to be gone through. */
  readonly total: number;
  readonly correlationId: string;
}

/** The conversions that are under way. */
@Injectable()
export class Conversions {
  constructor(
    private readonly clock: Clock,
    private readonly holds: AttributeHolds,
    private readonly signal: ConversionSignal,
  ) {}

  /**
   * From the commit on all that is written fits what the values are converted to, and segments that ask for the attribute
   * stand still. After `AttributeHolds.begin`.
   */
  async begin(
    tx: Transaction,
    { organizationId, id, key }: AttributeDefinition,
    { initial, onFailure, total, correlationId }: Beginning,
  ): Promise<void> {
    const phase = onFailure === 'clear' ? 'converting' : 'verifying';
    await tx.query(BEGIN, [
      ...[organizationId, id, initial, onFailure, phase, total, correlationId],
      this.clock.now(),
    ]);
    await this.holds.hold(tx, key, correlationId);
    tx.afterCommit(() => this.signal.raise());
  }

  /** By definition. */
  async of(tx: Transaction, definitionIds: readonly string[]): Promise<Map<string, ConversionRow>> {
    const rows = await tx.query<ConversionRow>(OF, [tx.organizationId, definitionIds]);
    return new Map(rows.map((row) => [row.definition_id, row]));
  }
}
