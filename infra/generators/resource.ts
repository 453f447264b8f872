import { EVENTS, LIFECYCLE } from '@customer-platform/events';
import { PERMISSIONS } from '@customer-platform/permissions';
import { camelCase, checkFields, type Field } from './field.ts';

/** What a resource may name: the permissions and events that the contract libraries state. */
export interface Contract {
  permissions: readonly string[];
  events: Readonly<Record<string, { schema: { shape: object }; key: string }>>;
}

const CONTRACT: Contract = { permissions: PERMISSIONS, events: EVENTS };

/** The event family of a resource, where libs/events has one. */
export interface ResourceEvent {
  /** `crm.activity_type`. */
  family: string;
  /** The field of `data` that is the Kafka key. */
  key: string;
  /** The fields of `data`. */
  fields: string[];
}

/** Everything the templates need to know of a resource. */
export interface Resource {
  module: string;
  /** `activity-types`: folder, path. */
  plural: string;
  /** `activity-type`: entity and DTO files. */
  singular: string;
  /** `ActivityTypes`, `ActivityType`. */
  pluralClass: string;
  singularClass: string;
  /** `activityTypes`, `activityType`. */
  pluralName: string;
  singularName: string;
  /** `activity_types`: table, permission. */
  table: string;
  /** `activity types`, `activity type`, `an activity type`. */
  words: string;
  word: string;
  aWord: string;
  /** Permission by action. */
  permissions: Record<'create' | 'read' | 'update' | 'delete' | 'purge', string>;
  event?: ResourceEvent;
  fields: Field[];
  /** Milliseconds; orders the migration. */
  timestamp: number;
}

const ACTIONS = ['create', 'read', 'update', 'delete', 'purge'] as const;

function singularOf(plural: string): string {
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`;
  if (/(?:s|x|ch|sh)es$/.test(plural)) return plural.slice(0, -2);
  return plural.replace(/s$/, '');
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function permissionsOf(contract: Contract, module: string, table: string): Resource['permissions'] {
  const named = ACTIONS.map((action) => [action, `${module}.${table}.${action}`] as const);
  const missing = named
    .filter(([, permission]) => !contract.permissions.includes(permission))
    .map(([, permission]) => permission);
  if (missing.length > 0)
    throw new Error(
      `libs/permissions does not know ${missing.join(', ')}: state what they permit there first.`,
    );
  return Object.fromEntries(named) as Resource['permissions'];
}

/** The resource's events, if libs/events has all five of them with data that the resource can fill. */
function eventOf({ events }: Contract, family: string, fields: readonly Field[]): ResourceEvent | undefined {
  const [created, ...rest] = LIFECYCLE.map((verb) =>
    Object.hasOwn(events, `${family}.${verb}.v1`) ? events[`${family}.${verb}.v1`] : undefined,
  );
  if (!created || rest.includes(undefined)) return undefined;
  const names = Object.keys(created.schema.shape);
  const fillable = new Set(['id', 'changed', ...fields.map(({ name }) => name)]);
  const unknown = names.filter((name) => !fillable.has(name));
  if (unknown.length > 0)
    throw new Error(`${family} events carry ${unknown.join(', ')}, which is no field of the resource.`);
  if (!names.includes('changed')) throw new Error(`${family} events do not say what changed.`);
  return { family, key: created.key, fields: names };
}

/**
 * What `crm activity-types name:string:60:unique` means.
 * @throws Error that says in one sentence what is wrong
 */
export function describeResource(
  module: string,
  plural: string,
  fields: Field[],
  timestamp: number,
  contract = CONTRACT,
): Resource {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(plural) || singularOf(plural) === plural)
    throw new Error(`"${plural}": a resource is named by a plural in kebab-case, such as activity-types.`);
  checkFields(fields);
  const singular = singularOf(plural);
  const table = plural.replaceAll('-', '_');
  const word = singular.replaceAll('-', ' ');
  const permissions = permissionsOf(contract, module, table);
  const event = eventOf(contract, `${module}.${singular.replaceAll('-', '_')}`, fields);
  return {
    module,
    plural,
    singular,
    pluralClass: capital(camelCase(plural)),
    singularClass: capital(camelCase(singular)),
    pluralName: camelCase(plural),
    singularName: camelCase(singular),
    table,
    words: plural.replaceAll('-', ' '),
    word,
    aWord: `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`,
    permissions,
    ...(event ? { event } : {}),
    fields,
    timestamp,
  };
}
