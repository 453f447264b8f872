import type { ComparedText } from '../rendering/render-job.js';
import type { TemplateContent } from './template-content.js';

/** A field of a template's content as text, by its pointer; what is no text as JSON, one value a line. */
export function fieldsOf(content: TemplateContent): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [locale, parts] of Object.entries(content.locales)) {
    for (const [part, value] of Object.entries(parts))
      fields.set(`/locales/${escaped(locale)}/${escaped(part)}`, textOf(value));
  }
  for (const [name, variable] of Object.entries(content.variables))
    fields.set(`/variables/${escaped(name)}`, textOf(variable));
  fields.set('/default_locale', content.default_locale);
  fields.set('/strict', textOf(content.strict));
  return fields;
}

/** A field that is not as it was. */
export interface FieldChange extends ComparedText {
  readonly kind: 'added' | 'removed' | 'changed';
}

/** The fields that differ, by pointer. */
export function changesBetween(before: TemplateContent, after: TemplateContent): FieldChange[] {
  const [from, to] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...from.keys(), ...to.keys()])].sort();
  return names.flatMap((name): FieldChange[] => {
    const [old, now] = [from.get(name), to.get(name)];
    if (old === now) return [];
    const kind = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
    return [{ name, kind, from: old ?? '', to: now ?? '' }];
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** As a JSON pointer says it (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
