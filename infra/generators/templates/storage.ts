import type { Field, FieldType } from '../field.ts';
import type { Resource, ResourceEvent } from '../resource.ts';

const SQL_TYPES: Record<FieldType, string> = {
  string: 'text',
  integer: 'integer',
  boolean: 'boolean',
  time: 'timestamptz(3)',
};
const COLUMN_TYPES: Record<FieldType, string> = { ...SQL_TYPES, time: 'timestamptz' };
const ENTITY_TYPES: Record<FieldType, string> = {
  string: 'string',
  integer: 'number',
  boolean: 'boolean',
  time: 'Date',
};

function column({ property, type, optional }: Field): string {
  const nullable = optional ? ', { nullable: true }' : '';
  return `@Column('${COLUMN_TYPES[type]}'${nullable}) ${property}: ${ENTITY_TYPES[type]}${optional ? ' | null' : ''};`;
}

function member(name: string, fields: readonly Field[]): string {
  if (name === 'changed') return `changed: changed.map((property) => FIELDS[property] ?? property),`;
  const field = fields.find((each) => each.name === name);
  const value = `row.${field?.property ?? name}`;
  if (field?.type !== 'time') return `${name}: ${value},`;
  return `${name}: ${value}${field.optional ? '?.toISOString() ?? null' : '.toISOString()'},`;
}

function eventOf(resource: Resource, event: ResourceEvent): string {
  const { plural, singularClass, singularName, fields } = resource;
  const key = fields.find(({ name }) => name === event.key)?.property ?? event.key;
  const renamed = [...fields, { name: 'deleted_at', property: 'deletedAt' }].filter(
    ({ name, property }) => name !== property,
  );
  return `
/** The fields that are named otherwise than their properties. */
const FIELDS: Readonly<Record<string, string>> = {
  ${renamed.map(({ name, property }) => `${property}: '${name}',`).join('\n  ')}
};

/** \`${event.family}.*\`: what changed, by name. */
export function ${singularName}Event({ verb, row, changed }: ResourceChange<${singularClass}>) {
  return {
    type: \`${event.family}.\${verb}.v1\`,
    key: row.${key},
    subject: \`${plural}/\${row.id}\`,
    data: {
      ${event.fields.map((name) => member(name, fields)).join('\n      ')}
    },
  };
}
`;
}

/** `activity-type.entity.ts`: the row, and the event of its changes. */
export function entityTemplate(resource: Resource): string {
  const { table, singularClass, fields, event } = resource;
  return `import type { ${event ? 'ResourceChange, ' : ''}SoftDeletable } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('${table}')
export class ${singularClass} implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  ${fields.map(column).join('\n  ')}
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
${event ? eventOf(resource, event) : ''}`;
}

/** The name of the migration's class. */
export function migrationClass({ pluralClass, timestamp }: Resource): string {
  return `Create${pluralClass}${timestamp}`;
}

/** `<timestamp>-create-activity-types.ts` */
export function migrationTemplate(resource: Resource): string {
  const { table, words, fields } = resource;
  const constant = table.toUpperCase();
  const columns = fields.map(
    ({ name, type, optional }) => `  ${name} ${SQL_TYPES[type]}${optional ? '' : ' NOT NULL'},`,
  );
  const unique = fields
    .filter((field) => field.unique)
    .map(
      ({ name }) =>
        `'CREATE UNIQUE INDEX ${table}_${name} ON ${table} (organization_id, ${name}) WHERE deleted_at IS NULL',`,
    );
  return `import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const ${constant} = \`CREATE TABLE ${table} (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
${columns.join('\n')}
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)\`;

/** The table of ${words}. */
export class ${migrationClass(resource)} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ${constant},
      ${unique.join('\n')}
      'CREATE INDEX ${table}_by_creation ON ${table} (organization_id, created_at, id)',
      'CREATE INDEX ${table}_by_change ON ${table} (organization_id, updated_at, id)',
      ...rowSecurity('${table}'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE ${table}');
  }
}
`;
}
