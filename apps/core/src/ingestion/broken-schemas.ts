import { FieldErrors } from '@customer-platform/problem-json';
import type { Enforcements } from '../taxonomies/enforcing/enforcements.js';
import type { IdentifyBody, TrackBody } from '../vocabulary/events/event-schemas.js';

const NO_PROPERTIES = {};

/** The schemas that an organization is known to enforce. */
type Enforcement = Awaited<ReturnType<Enforcements['of']>>;

/** What a well-formed event breaks of the schemas that its organization enforces strictly; undefined where nothing. */
export function schemaErrors(
  enforcement: Enforcement,
  { body }: { body: TrackBody | IdentifyBody },
): FieldErrors | undefined {
  if (!('event' in body)) return undefined;
  const broken = enforcement.violations(body.event, body.properties ?? NO_PROPERTIES, 'strict');
  if (broken.length === 0) return undefined;
  return new FieldErrors(
    broken.map(({ pointer, detail }) => ({ pointer, code: 'schema_violation' as const, detail })),
  );
}
