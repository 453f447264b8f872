import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Resource } from './resource.ts';
import { dtoTemplate } from './templates/dto.ts';
import { controllerTemplate, moduleTemplate } from './templates/routes.ts';
import { serviceTemplate } from './templates/service.ts';
import { specTemplate } from './templates/spec.ts';
import { entityTemplate, migrationClass, migrationTemplate } from './templates/storage.ts';
import { tenantTableEntry } from './templates/tenant-table.ts';
import { countedFile, countedWith, migrationsWith, moduleWith, tablesWith, wiringOf } from './wiring.ts';

/** What becomes of the columns of the app's tables. */
const TABLES = 'tenant-tables.fixture.ts';

/** Where the new migration is, without `.ts`. */
function migrationFile({ timestamp, plural }: Resource): string {
  return `${timestamp}-create-${plural}`;
}

function newFiles(app: string, resource: Resource): [file: string, text: string][] {
  const { plural, singular } = resource;
  const wiring = wiringOf(app, resource.module);
  return [
    [`migrations/${migrationFile(resource)}.ts`, migrationTemplate(resource)],
    [`${plural}/${singular}.entity.ts`, entityTemplate(resource)],
    [`${plural}/${singular}.dto.ts`, dtoTemplate(resource)],
    [`${plural}/${plural}.service.ts`, serviceTemplate(resource)],
    [`${plural}/${plural}.controller.ts`, controllerTemplate(resource)],
    [`${plural}/${plural}.module.ts`, moduleTemplate(resource)],
    [`${plural}/${plural}.controller.spec.ts`, specTemplate(resource, wiring)],
  ];
}

function changedFiles(app: string, resource: Resource): [file: string, text: string][] {
  const { module, plural, singular, pluralClass, singularClass } = resource;
  const list = `migrations/${wiringOf(app, module).migrationsFile}.ts`;
  const feature = {
    module: `${pluralClass}Module`,
    entity: singularClass,
    folder: plural,
    entityFile: singular,
  };
  const counted = countedFile(app);
  const migration = { name: migrationClass(resource), file: migrationFile(resource) };
  return [
    [`${module}.module.ts`, moduleWith(join(app, 'src', `${module}.module.ts`), feature)],
    [list, migrationsWith(join(app, 'src', list), migration)],
    [TABLES, tablesWith(join(app, 'src', TABLES), tenantTableEntry(resource))],
    [counted, countedWith(join(app, 'src', counted), resource.table)],
  ];
}

/**
 * Writes a resource of the common administrative form into an app, with its migration and its tests, and names it
 * where the app names its parts. Nothing is written where something of it is there already.
 * @returns what was written, from the app's folder
 * @throws Error that says in one sentence why not
 */
export async function writeResource(app: string, resource: Resource): Promise<string[]> {
  const fresh = newFiles(app, resource);
  const taken = [`${resource.plural}`, ...fresh.map(([file]) => file)].find((file) =>
    existsSync(join(app, 'src', file)),
  );
  if (taken !== undefined) throw new Error(`${join(app, 'src', taken)} is there already.`);
  const files = [...fresh, ...changedFiles(app, resource)];
  const style = await resolveConfig(join(import.meta.dirname, 'write-resource.ts'));
  const texts = await Promise.all(
    files.map(
      async ([file, text]) => [file, await format(text, { ...style, parser: 'typescript' })] as const,
    ),
  );
  for (const [file, text] of texts) {
    const path = join(app, 'src', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return files.map(([file]) => join('src', file));
}
