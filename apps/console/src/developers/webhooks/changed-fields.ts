import type { EndpointDraft } from './use-endpoints.ts';

/** One field that is another than it was. */
interface ChangedField {
  name: keyof EndpointDraft;
  before: string;
  after: string;
}

const FIELDS = ['name', 'url', 'events'] as const;

/** What is another in `after`; the order of the events says nothing. */
export function changedFields(before: EndpointDraft, after: EndpointDraft): ChangedField[] {
  return FIELDS.map((name) => ({ name, before: textOf(before[name]), after: textOf(after[name]) })).filter(
    (field) => field.before !== field.after,
  );
}

function textOf(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : [...value].sort().join(', ');
}
