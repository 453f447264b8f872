/** A definition and its records as plain data, and what calls do to them by crm.md §3: no table, no lock, no index. */

export type Value = string | number | boolean;
type Given = Readonly<Record<string, Value | null>>;

export interface ModelField {
  readonly key: string;
  readonly type: 'integer' | 'string' | 'enum' | 'boolean';
  readonly required: boolean;
  readonly unique: boolean;
  readonly indexed: boolean;
  readonly archived: boolean;
  /** What bounds the values: the greatest integer, the longest text, how many of the options; nothing of a boolean. */
  readonly bound: number;
}

interface ModelRecord {
  readonly values: Readonly<Record<string, Value>>;
  readonly live: boolean;
}

export interface Model {
  readonly fields: readonly ModelField[];
  readonly records: ReadonlyMap<string, ModelRecord>;
}

export type Command =
  | { readonly kind: 'create'; readonly id: string; readonly values: Given }
  | { readonly kind: 'patch'; readonly id: string; readonly values: Given }
  | { readonly kind: 'delete' | 'restore' | 'purge'; readonly id: string }
  | { readonly kind: 'redefine'; readonly fields: readonly ModelField[] };

interface Outcome {
  readonly status: number;
  readonly model: Model;
}

const OPTIONS = ['x', 'y', 'z'];

/** A field as a body gives it. */
export function bodyOf({ bound, ...field }: ModelField): object {
  if (field.type === 'integer') return { ...field, max: bound };
  if (field.type === 'string') return { ...field, max_length: bound };
  if (field.type === 'boolean') return field;
  return { ...field, options: OPTIONS.slice(0, bound).map((value) => ({ value })) };
}

export function apply(model: Model, command: Command): Outcome {
  const refused = (status: number): Outcome => ({ status, model });
  if (command.kind === 'redefine') return redefine(model, command.fields);
  const record = model.records.get(command.id);
  if (command.kind === 'create') {
    const values = merged(model.fields, {}, command.values);
    if (!values) return refused(400);
    if (isTaken(model, command.id, values)) return refused(409);
    return { status: 201, model: withRecord(model, command.id, { values, live: true }) };
  }
  if (!record) return refused(404);
  switch (command.kind) {
    case 'patch': {
      if (!record.live) return refused(409);
      const values = merged(model.fields, record.values, command.values);
      if (!values) return refused(400);
      if (isTaken(model, command.id, values)) return refused(409);
      return { status: 200, model: withRecord(model, command.id, { values, live: true }) };
    }
    case 'delete':
      return { status: 204, model: withRecord(model, command.id, { ...record, live: false }) };
    case 'restore':
      if (record.live || lacks(model.fields, record.values) || isTaken(model, command.id, record.values))
        return refused(409);
      return { status: 200, model: withRecord(model, command.id, { ...record, live: true }) };
    case 'purge':
      if (record.live) return refused(409);
      return { status: 204, model: withRecord(model, command.id, undefined) };
  }
}

/** Whether every active record is one that the definition takes, and all unique values are. */
export function isSound(model: Model): boolean {
  return [...model.records].every(
    ([id, { values, live }]) =>
      !live || (!lacks(model.fields, values) && fits(model.fields, values) && !isTaken(model, id, values)),
  );
}

function redefine(model: Model, fields: readonly ModelField[]): Outcome {
  const all = [...model.records.values()];
  const isHeld = (key: string): boolean => all.some(({ values }) => key in values);
  const after = (key: string): ModelField | undefined => fields.find((field) => field.key === key);
  // A field that another change has added meanwhile keeps its type.
  if (model.fields.some(({ key, type }) => (after(key)?.type ?? type) !== type))
    return { status: 400, model };
  const inUse = model.fields.some((former) => {
    const field = after(former.key);
    const isNarrower = former.type !== 'boolean' && field !== undefined && field.bound < former.bound;
    const isTighter = !field || isNarrower || (field.unique && !former.unique);
    return isTighter && isHeld(former.key);
  });
  const active = all.filter(({ live }) => live);
  const lacking = fields.some(
    ({ key, required, archived }) => required && !archived && active.some(({ values }) => !(key in values)),
  );
  return inUse || lacking ? { status: 409, model } : { status: 200, model: { ...model, fields } };
}

function merged(
  fields: readonly ModelField[],
  stored: ModelRecord['values'],
  given: Given,
): ModelRecord['values'] | undefined {
  const values: Record<string, Value> = { ...stored };
  for (const [key, value] of Object.entries(given)) {
    const field = fields.find((each) => each.key === key);
    if (!field || field.archived) return undefined;
    if (value === null) delete values[key];
    else if (value !== stored[key] && !takes(field, value)) return undefined;
    else values[key] = value;
  }
  return lacks(fields, values) ? undefined : values;
}

function lacks(fields: readonly ModelField[], values: ModelRecord['values']): boolean {
  return fields.some(({ key, required, archived }) => required && !archived && !(key in values));
}

function fits(fields: readonly ModelField[], values: ModelRecord['values']): boolean {
  return Object.entries(values).every(([key, value]) => {
    const field = fields.find((each) => each.key === key);
    return field !== undefined && takes(field, value);
  });
}

function takes({ type, bound }: ModelField, value: Value): boolean {
  if (type === 'integer') return typeof value === 'number' && Number.isInteger(value) && value <= bound;
  if (type === 'boolean') return typeof value === 'boolean';
  if (typeof value !== 'string') return false;
  return type === 'string' ? value.length <= bound : OPTIONS.slice(0, bound).includes(value);
}

function isTaken({ fields, records }: Model, id: string, values: ModelRecord['values']): boolean {
  const unique = fields.filter((field) => field.unique && field.key in values);
  return [...records].some(
    ([other, record]) =>
      other !== id && record.live && unique.some(({ key }) => record.values[key] === values[key]),
  );
}

function withRecord(model: Model, id: string, record: ModelRecord | undefined): Model {
  const records = new Map(model.records);
  if (record) records.set(id, record);
  else records.delete(id);
  return { ...model, records };
}
