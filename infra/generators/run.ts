/**
 * `npm run generate:resource -- MODULE PLURAL FIELD…`: writes a new resource of the common administrative form.
 *
 *   npm run generate:resource -- crm activity-types key:string:40:unique:immutable name:string:60 archived:boolean
 *
 * A field is NAME:TYPE with TYPE string:MAX, integer, boolean or time, then any of optional, unique, immutable.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HOUSES } from '../boundaries/rooms.ts';
import { parseField } from './field.ts';
import { describeResource } from './resource.ts';
import { writeResource } from './write-resource.ts';

const USAGE =
  'npm run generate:resource -- MODULE PLURAL FIELD…, such as: crm tags name:string:60:unique pinned:boolean';

async function main([module, plural, ...fields]: string[]): Promise<void> {
  if (module === undefined || plural === undefined || fields.length === 0) throw new Error(USAGE);
  const app = join(import.meta.dirname, '../../apps', module);
  if (!existsSync(join(app, `src/${module}.module.ts`))) throw new Error(`There is no module ${module}.`);
  const resource = describeResource(module, plural, fields.map(parseField), Date.now());
  const written = await writeResource(app, resource);
  for (const file of written) console.log(`Written: apps/${module}/${file}`);
  if (!resource.event)
    console.log(
      `It publishes no events: libs/events knows no ${module}.${resource.singular.replaceAll('-', '_')}.*.`,
    );
  console.log(
    `Next: npm test -- apps/${module}/src/${plural}, a sentence on the table in infra/docs/table-meanings.ts, npm run generate.`,
  );
  if (module in HOUSES) console.log('Give it its place among the rooms, in infra/boundaries/rooms.ts.');
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
