import { DefaultNamingStrategy, type NamingStrategyInterface } from 'typeorm';

/** `deletedAt` in a class is `deleted_at` in the table; names given explicitly are kept. */
export class SnakeCaseNaming extends DefaultNamingStrategy implements NamingStrategyInterface {
  override columnName(
    propertyName: string,
    customName: string | undefined,
    embeddedPrefixes: string[],
  ): string {
    return [...embeddedPrefixes, customName ?? propertyName].map(snakeCase).join('_');
  }
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
