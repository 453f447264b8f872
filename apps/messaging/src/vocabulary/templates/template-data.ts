import type { FieldError } from '@customer-platform/problem-json';
import { isOfType, type TemplateVariable } from './template-content.js';

/** The data with the defaults of the variables it leaves out, and what is wrong with it. */
interface CompletedData {
  readonly data: Record<string, unknown>;
  readonly errors: FieldError[];
}

/** Completes the data of a send or a preview by a template's variables. Undeclared keys pass as they are. */
export function completeData(
  variables: Readonly<Record<string, TemplateVariable>>,
  given: Readonly<Record<string, unknown>>,
): CompletedData {
  const data: Record<string, unknown> = { ...given };
  const errors: FieldError[] = [];
  for (const [name, variable] of Object.entries(variables)) {
    const pointer = `/data/${name}`;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) {
      if (variable.default !== undefined) data[name] = variable.default;
      else if (variable.required)
        errors.push({ pointer, code: 'required', detail: `The template needs \`${name}\`.` });
      else data[name] = null;
    } else if (!isOfType(value, variable.type)) {
      errors.push({
        pointer,
        code: 'wrong_type',
        detail: `The template expects ${name} to be of type ${variable.type}.`,
      });
    }
  }
  return { data, errors };
}
