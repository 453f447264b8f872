import type { EntityManager, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';

/** An entity's table, for the statements that are SQL. */
export class EntityTable<E extends ObjectLiteral> {
  private readonly metadata: EntityMetadata;

  constructor(
    private readonly manager: EntityManager,
    target: EntityTarget<E>,
  ) {
    this.metadata = manager.connection.getMetadata(target);
  }

  get name(): string {
    return this.metadata.tableName;
  }

  /** From a row as the driver gives it to an instance of the entity. */
  toEntity(row: Record<string, unknown>): E {
    const entity = this.metadata.create() as E;
    for (const column of this.metadata.columns) {
      const value: unknown = this.manager.connection.driver.prepareHydratedValue(
        row[column.databaseName],
        column,
      );
      column.setEntityValue(entity, value);
    }
    return entity;
  }

  /** The column's name of a property, which is also the field's name in the API. */
  columnOf(property: string): string {
    const column = this.metadata.findColumnWithPropertyName(property);
    if (!column) throw new Error(`${this.metadata.name} has no property ${property}`);
    return column.databaseName;
  }

  /** Property values by column name, as JSON carries them. */
  toColumns(values: object): Record<string, unknown> {
    const present = Object.entries(values).filter(([, value]) => value !== undefined);
    return Object.fromEntries(present.map(([property, value]) => [this.columnOf(property), value]));
  }
}
