import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { PreviewSlots } from '../../previews/preview-slots.js';
import { ANSWER_MS, TimeLimit } from '../../previews/time-limit.js';
import type { ConversionOutcomeDto, UnconvertibleValueDto } from '../attribute-definition.dto.js';
import { convertDeclared, type Declaration } from '../../vocabulary/attributes/declaration.js';
import { inTurns } from './in-turns.js';
import { readPiece, type ContactValue, type Piece } from './pieces.js';

const MOST_SAMPLES = 10;
const LONGEST_SHOWN = 200;
/** Of the time that an answer may take, for counting contacts where there are many. */
const COUNTING_MS = 500;

const COUNT = 'SELECT count(*)::int AS total FROM contacts WHERE organization_id = $1';

/** What would become of the values that contacts have. */
export interface Forecast extends ConversionOutcomeDto {
  /** Contacts that there are; where there was no time to count them, those that were looked at. */
  readonly total: number;
}

interface Tally {
  looked: number;
  convertible: number;
  unconvertible: number;
  readonly samples: UnconvertibleValueDto[];
}

/** Goes through the values of an attribute before anything is changed, as far as there is time. */
@Injectable()
export class ConversionForecast {
  constructor(
    private readonly database: Database,
    private readonly slots: PreviewSlots,
  ) {}

  /**
   * Which values of contacts the declaration takes, as they are or converted. Takes two seconds at most.
   * @throws Problem `rate_limited` while as many are worked on as may be
   */
  ofDryRun(context: RequestContext, key: string, to: Declaration): Promise<Forecast> {
    return this.slots.hold(context, () => this.look(context, key, to));
  }

  /** As `ofDryRun`, for a change: while as many are worked on as may be, only the first contacts are looked at. */
  async ofChange(context: RequestContext, key: string, to: Declaration): Promise<Forecast> {
    try {
      return await this.ofDryRun(context, key, to);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'rate_limited') throw error;
      return this.look(context, key, to, 1);
    }
  }

  private async look(
    context: RequestContext,
    key: string,
    to: Declaration,
    mostPieces = Infinity,
  ): Promise<Forecast> {
    const forecast = await this.database.inOrganization(context, (tx) => goThrough(tx, key, to, mostPieces));
    return context.can('core.contacts.read') ? forecast : { ...forecast, samples: [] };
  }
}

async function goThrough(
  tx: Transaction,
  key: string,
  to: Declaration,
  mostPieces: number,
): Promise<Forecast> {
  const limit = new TimeLimit(ANSWER_MS);
  const tally: Tally = { looked: 0, convertible: 0, unconvertible: 0, samples: [] };
  const answer = (complete: boolean, counted = 0): Forecast => {
    const { looked, ...found } = tally;
    return { ...found, complete, total: complete ? looked : Math.max(looked, counted) };
  };
  let counted: number | undefined;
  let cursor: string | null = null;
  for (let pieces = 0; pieces < mostPieces; pieces += 1) {
    const after: string | null = cursor;
    const piece: Piece | undefined = await limit.attempt(tx, (timed) => readPiece(timed, key, after));
    if (!piece) return answer(false, counted);
    const done = await inTurns(
      piece.holders,
      (holder) => tell(tally, holder, to),
      () => !limit.over,
    );
    if (!done) return answer(false, counted);
    tally.looked += piece.contacts;
    if (piece.next === undefined) return answer(true);
    cursor = piece.next;
    counted ??= (await limit.attempt(tx, (timed) => count(timed), COUNTING_MS)) ?? 0;
  }
  return answer(false, counted);
}

function tell(tally: Tally, { id, value }: ContactValue, to: Declaration): void {
  const outcome = convertDeclared(to, value);
  if ('value' in outcome) {
    tally.convertible += 1;
    return;
  }
  tally.unconvertible += 1;
  if (tally.samples.length < MOST_SAMPLES)
    tally.samples.push({ contact_id: id, value: shown(value), code: outcome.code });
}

async function count(tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ total: number }>(COUNT, [tx.organizationId]);
  return row?.total ?? 0;
}

/**
 * What there was no time to look at the conversion verifies itself.
 * @throws Problem `attribute_migration_conflict` where values would be lost
 */
export function demandNothingLost(forecast: Forecast): void {
  if (forecast.unconvertible > 0)
    throw new Problem('attribute_migration_conflict', { members: { ...outcomeOf(forecast) } });
}

/** A forecast as it is answered. */
export function outcomeOf({ convertible, unconvertible, complete, samples }: Forecast): ConversionOutcomeDto {
  return { convertible, unconvertible, complete, samples };
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN).toWellFormed()}…`;
}
