import type { Field, FieldType } from '../field.ts';
import type { Resource } from '../resource.ts';

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

/** `activity-type.entity.ts` */
export function entityTemplate({ table, singularClass, fields }: Resource): string {
  return `import type { SoftDeletable } from '@customer-platform/database';
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
`;
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
