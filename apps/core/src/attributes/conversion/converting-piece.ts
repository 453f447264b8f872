import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import {
  contactEvent,
  SHARED_COLUMNS,
  stateOf,
  type SharedContact,
} from '../../vocabulary/contacts/shared-contact.js';
import { declarationOf, type DeclarationColumns } from '../attribute-definition.entity.js';
import { convertDeclared, type Declaration } from '../../vocabulary/attributes/declaration.js';
import type { ConversionRow, Progress } from './conversions.js';
import { inTurns } from './in-turns.js';
import { readHolders, readPiece, type ContactValue, type Piece } from './pieces.js';

const TARGET = `
  SELECT key, type, enum, max_length AS "maxLength", min, max, next FROM attribute_definitions
   WHERE organization_id = $1 AND id = $2`;

const LOCK = `
  SELECT id, attributes -> $3::text AS value FROM contacts
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND jsonb_exists(attributes, $3::text)
   ORDER BY id FOR NO KEY UPDATE`;

const CHANGE = `
  UPDATE contacts
     SET attributes = CASE WHEN new_value IS NULL THEN attributes - $4::text
                           ELSE attributes || jsonb_build_object($4::text, new_value::jsonb) END,
         version = version + 1, updated_at = greatest(now(), updated_at + interval '1 ms')
    FROM unnest($2::uuid[], $3::text[]) AS change (contact_id, new_value)
   WHERE organization_id = $1 AND id = change.contact_id
  RETURNING ${SHARED_COLUMNS}`;

/** What the values of an attribute are converted to. */
interface Target {
  readonly key: string;
  readonly to: Declaration;
}

/** Looks whether the next contacts hold a value that would be lost: what was written while it was asked for. */
export async function verifyPiece(tx: Transaction, row: ConversionRow): Promise<Progress> {
  const { key, to } = await targetOf(tx, row);
  const piece = await readPiece(tx, key, row.cursor_id);
  let lost = 0;
  await inTurns(piece.holders, ({ value }) => {
    if ('code' in convertDeclared(to, value)) lost += 1;
  });
  if (lost > 0) return { phase: 'cancelling', cursor_id: null, processed: row.processed };
  return progressOf(row, piece, 'verifying', 'converting');
}

/** Converts the values of the next contacts, and tells of each that is another now. */
@Injectable()
export class ConvertingPiece {
  constructor(private readonly outbox: Outbox) {}

  async convert(tx: Transaction, row: ConversionRow): Promise<Progress> {
    const { key, to } = await targetOf(tx, row);
    const piece = await readHolders(tx, key, row.cursor_id);
    const ids = piece.holders.map(({ id }) => id);
    const held = await tx.query<ContactValue>(LOCK, [tx.organizationId, ids, key]);
    const changes: { id: string; after: string | null }[] = [];
    await inTurns(held, ({ id, value }) => {
      const outcome = convertDeclared(to, value);
      const after = 'value' in outcome ? JSON.stringify(outcome.value) : null;
      if (after !== JSON.stringify(value)) changes.push({ id, after });
    });
    if (changes.length > 0) {
      const contacts = await tx.query<SharedContact>(CHANGE, [
        tx.organizationId,
        changes.map(({ id }) => id),
        changes.map(({ after }) => after),
        key,
      ]);
      const told = contacts.filter((contact) => stateOf(contact) === 'active');
      const { organizationId } = tx;
      await this.outbox.append(
        tx,
        told.map((contact) => ({
          ...contactEvent('core.contact.updated.v1', contact, [`attributes.${key}`]),
          organizationId,
          correlationId: row.correlation_id,
        })),
      );
    }
    const cleared = changes.filter(({ after }) => after === null).length;
    return {
      ...progressOf(row, piece, 'converting', 'ending'),
      converted: row.converted + changes.length - cleared,
      cleared: row.cleared + cleared,
    };
  }
}

async function targetOf(tx: Transaction, row: ConversionRow): Promise<Target> {
  const [definition] = await tx.query<DeclarationColumns & { key: string; next: Declaration | null }>(
    TARGET,
    [...[tx.organizationId, row.definition_id]],
  );
  if (!definition) throw new Error('A conversion has no definition');
  return { key: definition.key, to: definition.next ?? declarationOf(definition) };
}

function progressOf(
  { processed }: ConversionRow,
  { contacts, next }: Pick<Piece, 'contacts' | 'next'>,
  present: ConversionRow['phase'],
  following: ConversionRow['phase'],
): Progress {
  if (next === undefined)
    return {
      phase: following,
      cursor_id: null,
      processed: following === 'ending' ? processed + contacts : 0,
    };
  return { phase: present, cursor_id: next, processed: processed + contacts };
}
