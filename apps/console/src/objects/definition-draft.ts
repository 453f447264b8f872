import {
  CONTACT,
  type EnumOption,
  type FieldType,
  type ObjectDefinition,
  type ObjectField,
} from './object.ts';

/** A field as its form holds it. */
export interface FieldDraft {
  /** Of the form alone: it stays while key and label are written. */
  id: string;
  /** What is stored has a key and a type for good. */
  stored: boolean;
  key: string;
  label: string;
  type: FieldType;
  required: boolean;
  unique: boolean;
  indexed: boolean;
  archived: boolean;
  maxLength: string;
  min: string;
  max: string;
  options: readonly EnumOption[];
  target: string;
  onErasure: 'delete' | 'clear';
}

export interface DefinitionDraft {
  slug: string;
  name: string;
  fields: readonly FieldDraft[];
}

const LONGEST_TEXT = '255';
let made = 0;

/** A field that nobody has said anything of yet. */
export function newField(): FieldDraft {
  made += 1;
  return {
    id: `new-${String(made)}`,
    stored: false,
    key: '',
    label: '',
    type: 'string',
    required: false,
    unique: false,
    indexed: false,
    archived: false,
    maxLength: LONGEST_TEXT,
    min: '',
    max: '',
    options: [{ value: '', label: '', archived: false }],
    target: CONTACT,
    onErasure: 'delete',
  };
}

export const NEW_DEFINITION: DefinitionDraft = { slug: '', name: '', fields: [] };

export function draftOf({ slug, name, fields }: ObjectDefinition): DefinitionDraft {
  return { slug, name, fields: fields.map(fieldDraftOf) };
}

function fieldDraftOf(field: ObjectField): FieldDraft {
  return {
    ...newField(),
    id: field.key,
    stored: true,
    key: field.key,
    label: field.label,
    type: field.type,
    required: field.required,
    unique: field.unique,
    indexed: field.indexed,
    archived: field.archived,
    ...(field.max_length === undefined ? {} : { maxLength: String(field.max_length) }),
    min: String(field.min ?? ''),
    max: String(field.max ?? ''),
    ...(field.options === undefined ? {} : { options: field.options }),
    target: field.target ?? CONTACT,
    onErasure: field.on_erasure ?? 'delete',
  };
}

/** What a form writes: name and fields, whole. The slug is given once. */
export function changeOf({ name, fields }: DefinitionDraft) {
  return { name, fields: fields.map(bodyOfField) };
}

/** A field as the API takes it: with what its type has, and nothing else. */
export function bodyOfField(draft: FieldDraft): Record<string, unknown> {
  const { key, type, required, unique, indexed, archived } = draft;
  const label = draft.label.trim() === '' ? key : draft.label;
  // What is unique is indexed.
  const common = { key, label, type, required, unique, indexed: indexed || unique, archived };
  switch (type) {
    case 'string':
      return { ...common, max_length: Number(draft.maxLength) };
    case 'integer':
    case 'number':
      return { ...common, min: boundOf(draft.min), max: boundOf(draft.max) };
    case 'enum':
      return { ...common, options: draft.options.map(optionOf) };
    case 'reference':
      return {
        ...common,
        target: draft.target,
        ...(draft.target === CONTACT ? { on_erasure: draft.onErasure } : {}),
      };
    case 'boolean':
    case 'date':
    case 'datetime':
      return common;
  }
}

function boundOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

function optionOf({ value, label, archived }: EnumOption): EnumOption {
  return { value, label: label.trim() === '' ? value : label, archived };
}

/** A key for what a field is called: `Año de fábrica` → `ano_de_fabrica`. */
export function keyFor(label: string): string {
  return label
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .replace(/_$/, '')
    .slice(0, 40);
}
