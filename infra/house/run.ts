/**
 * `npm run house -- [--field NAME]... [--list]`
 *
 * Prints two tables: in how many files a field of contacts is named that are written by hand (`first_name` and
 * `birth_date` unless told), and how the folders of each app hang together. `--list` names the files, the folders in a knot
 * and the imports that climb. A room is a folder of an app; the floor of a folder is the depth of its imports, a knot
 * folders that import each other in a circle, and a climb an import against their order, which boundaries/rooms.ts
 * declares. The last column counts folders of two levels, and the floors that these stand on.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { placesOf } from './fields.ts';
import { structuresOf } from './folders.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    field: { type: 'string', multiple: true, default: ['first_name', 'birth_date'] },
    list: { type: 'boolean', default: false },
  },
});

console.log('| A field of contacts | Files that name it | Places |\n|---|---|---|');
for (const { field, places } of values.field.map((each) => placesOf(root, each))) {
  const count = [...places.values()].reduce((sum, each) => sum + each, 0);
  console.log(`| ${field} | ${places.size} | ${count} |`);
  if (values.list) for (const [file, times] of places) console.log(`  ${times} ${file}`);
}

const linesOf = (file: string): number => readFileSync(join(root, file), 'utf8').split('\n').length;
console.log(
  '\n| App | Imports that climb | Folders in a knot | Rooms | Floors | Largest room | Two levels |',
);
console.log('|---|---|---|---|---|---|---|');
for (const { app, climbs, knot, folders, first, second } of await structuresOf(linesOf)) {
  const share = `${first.largest.folder} ${Math.round(first.largest.share * 100)} %`;
  const below = `${second.folders} on ${second.floors}`;
  console.log(
    `| ${app} | ${climbs.length} | ${knot.length} of ${folders} | ${first.folders} | ${first.floors} | ${share} | ${below} |`,
  );
  if (values.list)
    for (const each of [...knot.map((folder) => `knot: ${folder}`), ...climbs]) console.log(`  ${each}`);
}
