import { pointerToken } from '@customer-platform/http';
import { FieldErrors, Problem, type FieldCode } from '@customer-platform/problem-json';

/** Names that stand in paths and filters: of types, fields, outcomes (crm.md §2, §3). */
const KEY = /^[a-z][a-z0-9_]{1,39}$/;
/** What a person reads beside a key. */
export const LONGEST_LABEL = 100;

/** Reads a part of a body that no DTO class can describe, and gathers what is wrong with it: the caller learns all. */
export class Refusals {
  private readonly errors = new FieldErrors();

  refuse(pointer: string, code: FieldCode, detail: string): void {
    this.errors.add({ pointer, code, detail });
  }

  /** @throws Problem `validation_failed` with everything that was refused, if anything was */
  done(): void {
    if (this.errors.total > 0) throw Problem.validation(this.errors);
  }

  /** The items of a list of at most so many; none after a refusal. */
  list(value: unknown, pointer: string, most: number): readonly unknown[] {
    if (!Array.isArray(value)) {
      this.refuse(pointer, 'wrong_type', 'It must be a list.');
      return [];
    }
    if (value.length > most) this.refuse(pointer, 'too_long', `At most ${String(most)} items are taken.`);
    return value.length > most ? [] : value;
  }

  /** An object of known members, or undefined after a refusal. */
  object(
    value: unknown,
    pointer: string,
    allowed: readonly string[],
  ): Readonly<Record<string, unknown>> | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.refuse(pointer, 'wrong_type', 'It must be an object.');
      return undefined;
    }
    for (const name of Object.keys(value).filter((each) => !allowed.includes(each))) {
      const detail = `There is no field \`${name.slice(0, 100)}\` here. Allowed: ${allowed.join(', ')}.`;
      this.refuse(`${pointer}/${pointerToken(name)}`, 'unknown_field', detail);
    }
    return value as Readonly<Record<string, unknown>>;
  }

  /** A key; the empty text after a refusal. */
  key(value: unknown, pointer: string): string {
    if (value === undefined) this.refuse(pointer, 'required', 'It is required.');
    else if (typeof value !== 'string') this.refuse(pointer, 'wrong_type', 'It must be a text.');
    else if (KEY.test(value)) return value;
    else this.refuse(pointer, 'invalid_format', 'It must match ^[a-z][a-z0-9_]{1,39}$.');
    return '';
  }

  /** A text of 1 to `most` characters; what it is named by unless given. */
  label(value: unknown, pointer: string, otherwise: string): string {
    return value === undefined ? otherwise : this.text(value, pointer, LONGEST_LABEL);
  }

  /** A text of 1 to `most` characters; the empty one after a refusal. */
  text(value: unknown, pointer: string, most: number): string {
    if (value === undefined) this.refuse(pointer, 'required', 'It is required.');
    else if (typeof value !== 'string') this.refuse(pointer, 'wrong_type', 'It must be a text.');
    else if (value === '') this.refuse(pointer, 'too_short', 'It must not be empty.');
    else if (lengthOf(value) > most)
      this.refuse(pointer, 'too_long', `It may have at most ${String(most)} characters.`);
    else return value;
    return '';
  }

  /** True or false; false unless given. */
  flag(value: unknown, pointer: string): boolean {
    if (value === undefined || typeof value === 'boolean') return value ?? false;
    this.refuse(pointer, 'wrong_type', 'It must be true or false.');
    return false;
  }

  /** Refuses names that come twice; `pointer` tells where the name of an item stands. */
  distinct(names: readonly string[], pointer: (index: number) => string): void {
    names.forEach((name, index) => {
      if (name !== '' && names.indexOf(name) < index)
        this.refuse(pointer(index), 'duplicate_item', 'It stands here twice.');
    });
  }
}

/** Characters, not the units that a text is stored in. */
export function lengthOf(text: string): number {
  return text.length <= LONGEST_LABEL && !/[\uD800-\uDBFF]/.test(text) ? text.length : [...text].length;
}
