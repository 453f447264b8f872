import { texts, uuids, type Transaction } from '@customer-platform/database';
import { identifierForms, plainIdentifier } from '@customer-platform/http';
import type { ErasedIdentifiers } from '../../blocklist/erased-identifiers.js';
import { isOpaque } from '../../vocabulary/identities/identity-value.js';

/** An identifier as somebody writes it. */
export interface WrittenIdentifier {
  readonly organizationId: string;
  readonly type: string;
  readonly value: string;
}

/** Answers the form in which an identifier is kept, or would be, of those that were asked for. */
export type KeptForm = (written: WrittenIdentifier) => string;

/** Row by row, however few rows the planner takes the table to have; present and yielded ones have an index each. */
const rowsWhere = (which: string): string => `
  SELECT wanted.place, yielded_at IS NOT NULL AS yielded
    FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY
           AS wanted (organization_id, type, normal_value, place),
         LATERAL (SELECT yielded_at FROM identities
                   WHERE organization_id = wanted.organization_id AND type = wanted.type
                     AND normal_value = wanted.normal_value AND yielded_at IS ${which} OFFSET 0) AS found`;
const FOUND = `${rowsWhere('NULL')} UNION ALL ${rowsWhere('NOT NULL')}`;

/**
 * In which form each of these is kept, so that nobody is there twice for two writings of one identifier (core.md §3): that
 * under which somebody has it, the writing itself before others; or else was erased, or will ask for it back when they are
 * restored; or else the plain one, in which it is kept anew. Nothing is asked where all are of ASCII, as most are.
 */
export async function keptForms(
  tx: Transaction,
  blocklist: ErasedIdentifiers,
  written: readonly WrittenIdentifier[],
): Promise<KeptForm> {
  const sought = written.flatMap((each) => {
    if (!isOpaque(each.type)) return [];
    const forms = identifierForms(each.value);
    return forms.length === 1 ? [] : forms.map((normal) => ({ ...each, normal }));
  });
  if (sought.length === 0) return ({ value }) => value;
  const rows = await tx.prepared<{ place: string; yielded: boolean }>(FOUND, [
    uuids(sought.map(({ organizationId }) => organizationId)),
    texts(sought.map(({ type }) => type)),
    texts(sought.map(({ normal }) => normal)),
  ]);
  const { true: yielded = [], false: held = [] } = Object.groupBy(rows, (row) =>
    row.yielded ? 'true' : 'false',
  );
  const placesOf = (found: readonly { place: string }[]): ReadonlySet<unknown> =>
    new Set(found.map(({ place }) => sought[Number(place) - 1]));
  // Asked once the owners were read: whoever saw an identity no more sees that it is blocked.
  const blocked = await blocklist.blocked(tx, sought);
  const known = new Map<string, string>();
  for (const found of [placesOf(held), blocked, placesOf(yielded)])
    for (const each of sought)
      if (found.has(each) && !known.has(nameOf(each))) known.set(nameOf(each), each.normal);
  return (each) =>
    known.get(nameOf(each)) ?? (isOpaque(each.type) ? plainIdentifier(each.value) : each.value);
}

function nameOf({ organizationId, type, value }: WrittenIdentifier): string {
  return `${organizationId} ${type} ${value}`;
}
