import { checkDeclared, convertDeclared, type Checked, type Declaration } from './declaration.js';

/** An attribute that has a definition. */
export interface DeclaredAttribute {
  readonly declared: Declaration;
  /** What its values are being converted to; what is written meanwhile must fit both. */
  readonly next: Declaration | null;
  /** Whether values from before the definition, or before its change, are still being gone through. */
  readonly converting: boolean;
  /** Whether members see their own value. */
  readonly memberVisible: boolean;
}

/** The attributes of an organization that have a definition, by their keys. */
export type DeclaredAttributes = ReadonlyMap<string, DeclaredAttribute>;

/** Whether the same is declared: what is kept is read anew with every change of segments too. */
export function sameDeclared(one: DeclaredAttributes, other: DeclaredAttributes): boolean {
  return one === other || JSON.stringify([...one]) === JSON.stringify([...other]);
}

/** Where nothing is declared. */
export const NOTHING_DECLARED: DeclaredAttributes = new Map();

/**
 * A value that somebody sends for an attribute, as it is stored. A declared type wins; what has no definition is kept
 * as sent. Numbers that reading would round were refused with the body.
 */
export function acceptAttribute(attributes: DeclaredAttributes, key: string, value: unknown): Checked {
  const attribute = attributes.get(key);
  if (!attribute) return { value };
  const checked = checkDeclared(attribute.declared, value);
  if ('code' in checked || !attribute.next) return checked;
  return convertDeclared(attribute.next, checked.value);
}

/**
 * Stored values of a contact as they may be stored now: what came back out of an older record is converted, and goes
 * where it cannot be. The same object where nothing changes.
 */
export function conformAttributes(
  attributes: DeclaredAttributes,
  stored: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const declared = Object.keys(stored).filter((key) => attributes.has(key));
  const changed = new Map<string, Checked>();
  for (const key of declared) {
    const outcome = conform(attributes.get(key), stored[key]);
    if (!('value' in outcome) || JSON.stringify(outcome.value) !== JSON.stringify(stored[key]))
      changed.set(key, outcome);
  }
  if (changed.size === 0) return stored;
  return Object.fromEntries(
    Object.entries(stored).flatMap(([key, value]) => {
      const outcome = changed.get(key);
      if (!outcome) return [[key, value]];
      return 'value' in outcome ? [[key, outcome.value]] : [];
    }),
  );
}

/** As a value will read once the running conversion has ended; undefined where it will be gone. */
export function asConverted(attribute: DeclaredAttribute, value: unknown): unknown {
  const outcome = conform(attribute, value);
  return 'value' in outcome ? outcome.value : undefined;
}

function conform(attribute: DeclaredAttribute | undefined, value: unknown): Checked {
  if (!attribute || value === undefined) return { value };
  return convertDeclared(attribute.next ?? attribute.declared, value);
}
