import { cutEnds } from '@customer-platform/http';
import type { FieldError } from '@customer-platform/problem-json';
import type { Identifier } from '../../../blocklist/erased-identifiers.js';
import { matchedEmail, type NormalForms } from '../../../vocabulary/identities/identity-value.js';
import type { CreateContactDto } from '../contact.dto.js';
import type { CellForms } from '../../../vocabulary/attributes/declared-cells.js';

/** By what a row finds its contact. */
type MatchField = 'external_id' | 'email' | 'phone';

/** A contact as it is said to be, its form checked. */
export interface BatchRow {
  readonly body: CreateContactDto;
}

/** How a batch is written. */
export interface BatchOptions {
  readonly matchBy: MatchField;
  readonly onExisting: 'update' | 'skip' | 'fail';
  /** What made the contacts that are new, as they show it. */
  readonly source: 'import';
  /** Decides all, and writes nothing. */
  readonly dryRun: boolean;
  /** The number forms of its columns, of a row of CSV. */
  readonly cells?: CellForms;
}

/** What became of a row. */
export type BatchOutcome =
  | { readonly outcome: 'created' | 'updated' | 'unchanged' | 'skipped'; readonly contactId: string }
  | { readonly outcome: 'failed'; readonly errors: readonly FieldError[] };

/**
 * What a row names its contact by, in the form in which it is matched; what is malformed names nobody. Its form need not
 * have been checked.
 */
export function identifiersNamed(
  body: CreateContactDto,
  forms: NormalForms,
  country = countryOf(body),
): Identifier[] {
  const { external_id: externalId, email, phone } = body as Record<MatchField, unknown>;
  const named: (readonly [MatchField, string | undefined])[] = [
    ['external_id', typeof externalId === 'string' ? externalId : undefined],
    ['email', typeof email === 'string' ? matchedEmail(email, forms) : undefined],
    ['phone', typeof phone === 'string' ? forms.phone(phone, country) : undefined],
  ];
  return named.flatMap(([type, normal]) => (normal === undefined ? [] : [{ type, normal }]));
}

function countryOf({ country }: { readonly country?: unknown }): string | null {
  return typeof country === 'string' ? cutEnds(country).toUpperCase() : null;
}

/** Names an identifier among all of a batch. */
export function keyOf({ type, normal }: Identifier): string {
  return `${type} ${normal}`;
}
