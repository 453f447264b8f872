import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ConversionOutcomeDto, UnconvertibleValueDto } from '../attribute-definition.dto.js';
import { convertDeclared, type Declaration } from '../declaration.js';
import { readPiece, type Piece } from './pieces.js';

/** Contacts of one transaction; each may have attributes of 64 KiB. */
const CONTACTS_AT_ONCE = 1_000;
const MOST_SAMPLES = 10;
const LONGEST_SHOWN = 200;

/** What would become of the values that contacts have. */
export interface Forecast extends ConversionOutcomeDto {
  /** Contacts that were looked at. */
  readonly total: number;
}

/** Goes through the values of an attribute before anything is changed. */
@Injectable()
export class ConversionForecast {
  constructor(private readonly database: Database) {}

  /** Which values of all contacts the declaration takes, as they are or converted. */
  async of(context: RequestContext, key: string, to: Declaration): Promise<Forecast> {
    const forecast = { total: 0, convertible: 0, unconvertible: 0, samples: [] as UnconvertibleValueDto[] };
    let cursor: string | null | undefined = null;
    while (cursor !== undefined) {
      const piece: Piece = await this.piece(context, key, cursor);
      forecast.total += piece.contacts;
      for (const { id, value } of piece.values) {
        const outcome = convertDeclared(to, value);
        if ('value' in outcome) forecast.convertible += 1;
        else {
          forecast.unconvertible += 1;
          if (forecast.samples.length < MOST_SAMPLES)
            forecast.samples.push({ contact_id: id, value: shown(value), code: outcome.code });
        }
      }
      cursor = piece.next;
    }
    return context.can('core.contacts.read') ? forecast : { ...forecast, samples: [] };
  }

  private piece(context: RequestContext, key: string, cursor: string | null): Promise<Piece> {
    return this.database.inOrganization(context, (tx) => readPiece(tx, key, cursor, CONTACTS_AT_ONCE));
  }
}

/** @throws Problem `attribute_migration_conflict` where values would be lost */
export function demandNothingLost(forecast: Forecast): void {
  if (forecast.unconvertible > 0)
    throw new Problem('attribute_migration_conflict', { members: { ...outcomeOf(forecast) } });
}

/** A forecast as it is answered. */
export function outcomeOf({ convertible, unconvertible, samples }: Forecast): ConversionOutcomeDto {
  return { convertible, unconvertible, samples };
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN).toWellFormed()}…`;
}
