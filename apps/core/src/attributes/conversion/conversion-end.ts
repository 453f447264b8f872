import { Injectable } from '@nestjs/common';
import { Audit, systemActor } from '@customer-platform/audit';
import { Clock, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { AttributeHolds } from '../../segments/building/attribute-holds.js';
import { SegmentSignal } from '../../following/segment.signal.js';
import { changedOf, type Declaration } from '../../vocabulary/attributes/declaration.js';
import type { ConversionRow } from './conversions.js';

const DEFINITION = `
  SELECT key, type, enum, max_length, min, max, next FROM attribute_definitions
   WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE`;

const TAKES_EFFECT = `
  UPDATE attribute_definitions
     SET type = $3, enum = $4, max_length = $5, min = $6, max = $7, next = NULL,
         updated_at = greatest($8, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2`;

const STAYS = `
  UPDATE attribute_definitions SET next = NULL, updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2`;

const GOES = `
  UPDATE attribute_definitions SET deleted_at = $3, updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2`;

const OVER = 'DELETE FROM attribute_conversions WHERE organization_id = $1 AND definition_id = $2';

interface DefinitionRow extends Declaration {
  key: string;
  next: Declaration | null;
}

/** Both ends of a conversion, after `AttributeHolds.begin`: what follows compares by one declaration, and by no two. */
@Injectable()
export class ConversionEnd {
  constructor(
    private readonly outbox: Outbox,
    private readonly audit: Audit,
    private readonly clock: Clock,
    private readonly holds: AttributeHolds,
    private readonly segments: SegmentSignal,
  ) {}

  /** All values are converted: from the commit on the new declaration is the one. */
  async takeEffect(tx: Transaction, row: ConversionRow): Promise<void> {
    const key = [tx.organizationId, row.definition_id];
    const definition = await this.lock(tx, row);
    const { next, type: from } = definition;
    if (next) {
      const known = next.enum === null ? null : JSON.stringify(next.enum);
      await tx.query(TAKES_EFFECT, [
        ...[...key, next.type, known, next.max_length, next.min, next.max],
        this.clock.now(),
      ]);
    }
    await this.release(tx, row, definition);
    if (!next || next.type === from) return;
    const { definition_id: id, total, converted, cleared } = row;
    await this.outbox.append(tx, {
      type: 'core.attribute.migrated.v1',
      organizationId: tx.organizationId,
      key: id,
      subject: `attribute-definitions/${id}`,
      correlationId: row.correlation_id,
      data: {
        attribute_id: id,
        key: definition.key,
        from,
        to: next.type,
        counts: { total, converted, cleared },
      },
    });
  }

  /**
   * A value that would be lost was written just before the conversion began: nothing is changed. A definition that was
   * new is soft-deleted, as if it had been refused.
   */
  async cancel(tx: Transaction, row: ConversionRow): Promise<void> {
    const definition = await this.lock(tx, row);
    const statement = row.initial ? GOES : STAYS;
    const notDone = definition.next ? changedOf(definition, definition.next) : [];
    await tx.query(statement, [tx.organizationId, row.definition_id, this.clock.now()]);
    await this.release(tx, row, definition);
    await this.audit.record(tx, systemActor(tx.organizationId, row.correlation_id, 'attribute-conversion'), {
      action: row.initial ? 'core.attributes.delete' : 'core.attributes.update',
      resource: { type: 'attributes', id: row.definition_id },
      changedFields: row.initial ? ['deleted_at'] : notDone,
      reason: 'Values that cannot be converted were written just before.',
    });
  }

  private async lock(tx: Transaction, row: ConversionRow): Promise<DefinitionRow> {
    const [definition] = await tx.query<DefinitionRow>(DEFINITION, [tx.organizationId, row.definition_id]);
    if (!definition) throw new Error('A conversion has no definition');
    return definition;
  }

  private async release(tx: Transaction, row: ConversionRow, { key }: DefinitionRow): Promise<void> {
    await tx.query(OVER, [tx.organizationId, row.definition_id]);
    await this.holds.rebuild(tx, key, row.correlation_id);
    tx.afterCommit(() => this.segments.raise());
  }
}
