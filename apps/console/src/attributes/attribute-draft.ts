import type { BodyOf, ItemOf } from '@customer-platform/client';
import { plainLines, writtenLines } from '../ui/number-text.ts';
import type { AttributeType } from './vocabulary.ts';

export type Attribute = ItemOf<'/v1/core/attribute-definitions'>;
type NewAttribute = BodyOf<'post', '/v1/core/attribute-definitions'>;

/** A definition as its form holds it: numbers as JSON writes them, allowed values one a line. */
export interface AttributeDraft {
  key: string;
  label: string;
  type: AttributeType;
  values: string;
  maxLength: string;
  min: string;
  max: string;
  memberVisible: boolean;
}

export const NEW_ATTRIBUTE: AttributeDraft = {
  key: '',
  label: '',
  type: 'string',
  values: '',
  maxLength: '',
  min: '',
  max: '',
  memberVisible: false,
};

/** Tells whether values of a type are numbers. */
export const isNumeric = (type: AttributeType): boolean => type === 'integer' || type === 'number';
const isText = (type: AttributeType): boolean => type === 'string' || type === 'string_list';

/** Which bounds values of a type can have. */
export function boundsOf(type: AttributeType) {
  return { values: isNumeric(type) || isText(type), length: isText(type), range: isNumeric(type) };
}

const textOf = (value: number | null): string => (value === null ? '' : String(value));
const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

export function draftOf(attribute: Attribute): AttributeDraft {
  return {
    key: attribute.key,
    label: attribute.label,
    type: attribute.type,
    values: (attribute.enum ?? []).join('\n'),
    maxLength: textOf(attribute.max_length),
    min: textOf(attribute.min),
    max: textOf(attribute.max),
    memberVisible: attribute.member_visible,
  };
}

/** What the API takes for a change; what a type does not take is nothing. */
export function changeOf(draft: AttributeDraft) {
  const { type } = draft;
  const takes = boundsOf(type);
  return {
    label: draft.label.trim() === '' ? draft.key.trim() : draft.label.trim(),
    type,
    enum: takes.values ? valuesOf(draft) : null,
    max_length: takes.length ? numberOf(draft.maxLength) : null,
    min: takes.range ? numberOf(draft.min) : null,
    max: takes.range ? numberOf(draft.max) : null,
    member_visible: draft.memberVisible,
  };
}

/** What the API takes for a new definition. */
export function bodyOf(draft: AttributeDraft): NewAttribute {
  return { key: draft.key.trim(), ...changeOf(draft) };
}

/** Whether values that contacts have may be asked for something else than before. */
export function declaresOtherwise(draft: AttributeDraft, attribute: Attribute): boolean {
  const { label: _label, member_visible: _visible, ...now } = changeOf(draft);
  const { label: _old, member_visible: _seen, ...before } = changeOf(draftOf(attribute));
  return JSON.stringify(now) !== JSON.stringify(before);
}

/** What is no number is sent as it is: the API says where it stands. */
function valuesOf({ type, values }: AttributeDraft): (string | number)[] | null {
  const lines = values
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0) return null;
  if (!isNumeric(type)) return lines;
  return lines.map((line) => (Number.isFinite(Number(line)) ? Number(line) : line));
}

/** Gives a draft another type; the allowed values stay as they are seen. */
export function withType(draft: AttributeDraft, type: AttributeType, locale: string): AttributeDraft {
  const { values } = draft;
  if (isNumeric(type) === isNumeric(draft.type)) return { ...draft, type };
  return { ...draft, type, values: (isNumeric(type) ? plainLines : writtenLines)(values, locale) };
}
