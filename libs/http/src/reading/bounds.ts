import { getMetadataStorage } from 'class-validator';
import type { FieldCode } from '@customer-platform/problem-json';
import type { Dto } from '../endpoints/route-declaration.js';

/** How long a field's text, or how full its array, may be: what its decorators say. */
interface Bound {
  readonly kind: 'text' | 'array';
  readonly most: number;
  /** The bound is that of each item of an array. */
  readonly each: boolean;
  /** The published code that the decorator states; `too_long` without. */
  readonly code: FieldCode;
}

const boundsOfDto = new WeakMap<Dto, ReadonlyMap<string, readonly Bound[]>>();

/** The upper bounds that a DTO class declares, by field. */
export function boundsOf(dto: Dto): ReadonlyMap<string, readonly Bound[]> {
  const known = boundsOfDto.get(dto);
  if (known) return known;
  const bounds = new Map<string, Bound[]>();
  for (const metadata of getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false)) {
    // A constraint of one's own has none, whatever the type says.
    const [first, second] = (metadata.constraints as (number | undefined)[] | undefined) ?? [];
    const most = { maxLength: first, isLength: second, arrayMaxSize: first }[metadata.name ?? ''];
    if (most === undefined) continue;
    const kind = metadata.name === 'arrayMaxSize' ? 'array' : 'text';
    const { code = 'too_long' } = (metadata.context ?? {}) as { code?: FieldCode };
    const field = bounds.get(metadata.propertyName) ?? [];
    field.push({ kind, most, each: metadata.each, code });
    bounds.set(metadata.propertyName, field);
  }
  boundsOfDto.set(dto, bounds);
  return bounds;
}

/** The bound that a value breaks. It looks at sizes and at nothing else of what was sent. */
export function brokenBound(bounds: readonly Bound[], value: unknown): Bound | undefined {
  return bounds.find(({ kind, most, each }) => {
    if (kind === 'array') return Array.isArray(value) && value.length > most;
    if (!each) return typeof value === 'string' && isLongerThan(value, most);
    return Array.isArray(value) && value.some((item) => typeof item === 'string' && isLongerThan(item, most));
  });
}

/** Whether a text has more than so many characters, a surrogate pair being one; a far longer one is not read. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false;
  if (text.length > 2 * most) return true;
  return text.length - (text.match(PAIR)?.length ?? 0) > most;
}

/** A character that takes two code units. */
const PAIR = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

/** What is wrong with a value that breaks a bound. */
export function boundText(field: string, { kind, most, each }: Bound): string {
  const limit = kind === 'array' ? `at most ${most} items` : `at most ${most} characters`;
  return each ? `Each item of \`${field}\` has ${limit}.` : `\`${field}\` has ${limit}.`;
}
