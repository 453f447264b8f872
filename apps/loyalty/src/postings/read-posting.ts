import { type FieldError, Problem } from '@customer-platform/problem-json';
import type { CreateTransactionDto } from './posting.dto.js';

interface Words {
  readonly reason: string | null;
  readonly reference: string | null;
}

/** Points of a contact, added or (below zero) taken. */
export interface Movement extends Words {
  readonly kind: 'adjust' | 'spend';
  readonly contactId: string;
  readonly points: number;
  readonly expiresAt: Date | null;
}

/** The opposite of a transaction. */
interface Reversal extends Words {
  readonly kind: 'reverse';
  readonly reversesId: string;
}

/** A posting as asked for, everything checked that the body alone can tell. */
export type Posting = Movement | Reversal;

type Field = 'contact_id' | 'points' | 'reverses_id' | 'reason' | 'expires_at';

const REQUIRED: Record<CreateTransactionDto['kind'], readonly Field[]> = {
  adjust: ['contact_id', 'points', 'reason'],
  spend: ['contact_id', 'points'],
  reverse: ['reverses_id', 'reason'],
};

const NOT_ALLOWED: Record<CreateTransactionDto['kind'], readonly Field[]> = {
  adjust: ['reverses_id'],
  spend: ['reverses_id', 'expires_at'],
  reverse: ['contact_id', 'points', 'expires_at'],
};

/** Reads the body of a posting. @throws Problem `validation_failed` with a pointer for everything that is wrong */
export function readPosting(dto: CreateTransactionDto): Posting {
  const errors = [...presenceErrors(dto), ...pointsErrors(dto), ...expiryErrors(dto)];
  if (errors.length > 0) throw Problem.validation(errors);
  const words = { reason: dto.reason ?? null, reference: dto.reference ?? null };
  if (dto.kind === 'reverse')
    return { kind: dto.kind, reversesId: String(dto.reverses_id).toLowerCase(), ...words };
  const points = Number(dto.points);
  return {
    kind: dto.kind,
    contactId: String(dto.contact_id).toLowerCase(),
    points: dto.kind === 'spend' ? -points : points,
    expiresAt: dto.expires_at === undefined ? null : new Date(dto.expires_at),
    ...words,
  };
}

function presenceErrors(dto: CreateTransactionDto): FieldError[] {
  const missing = REQUIRED[dto.kind].filter((field) => dto[field] === undefined);
  const excess = NOT_ALLOWED[dto.kind].filter((field) => dto[field] !== undefined);
  return [
    ...missing.map((field) => error(field, 'required', `\`${field}\` is required for \`${dto.kind}\`.`)),
    ...excess.map((field) => error(field, 'not_allowed', `\`${field}\` is not for \`${dto.kind}\`.`)),
  ];
}

function pointsErrors({ kind, points }: CreateTransactionDto): FieldError[] {
  if (points === undefined || kind === 'reverse') return [];
  if (points === 0) return [error('points', 'out_of_range', '`points` must not be 0.')];
  if (kind === 'spend' && points < 0)
    return [error('points', 'out_of_range', '`points` of a `spend` must be above 0.')];
  return [];
}

function expiryErrors({ kind, points, expires_at: end }: CreateTransactionDto): FieldError[] {
  if (end === undefined || kind !== 'adjust' || points === undefined || points > 0) return [];
  return [error('expires_at', 'not_allowed', '`expires_at` is for a positive `adjust` only.')];
}

/**
 * Refuses a lot that would have ended before it began. Apart from the rest, for an answered key is answered again
 * whatever its `expires_at` has become since.
 * @throws Problem `validation_failed`
 */
export function refuseEnded({ expiresAt }: Movement, now: Date): void {
  if (expiresAt === null || expiresAt > now) return;
  throw Problem.validation([error('expires_at', 'out_of_range', '`expires_at` must be in the future.')]);
}

function error(field: Field, code: 'required' | 'not_allowed' | 'out_of_range', detail: string): FieldError {
  return { pointer: `/${field}`, code, detail };
}
