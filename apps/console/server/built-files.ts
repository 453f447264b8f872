import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

/** How a file can be sent, the smallest first. */
export const ENCODINGS = ['br', 'gzip'] as const;
/** One of them. */
export type Encoding = (typeof ENCODINGS)[number];

/** Beside each file that is worth it lies what the build has made of it. */
const ENDINGS: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** One form of a file's content; each has an ETag of its own. */
interface Representation {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly encoding?: Encoding;
}

/** A file as it is sent. */
export interface BuiltFile {
  readonly type: string;
  readonly plain: Representation;
  readonly encoded: Partial<Readonly<Record<Encoding, Representation>>>;
}

/**
 * Everything that the build has made, by its path below `folder`. It is read once: a request looks it up among these and
 * reaches no other file, whatever it asks for, and a build that goes on meanwhile changes nothing that is served.
 * @throws Error where the folder has no index.html
 */
export function readBuiltFiles(folder: string): ReadonlyMap<string, BuiltFile> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  const files = new Map<string, BuiltFile>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue; // what the build has compressed, and what nobody would know how to read
    const plain = representation(readFileSync(join(folder, name)));
    const encoded = ENCODINGS.filter((encoding) => names.includes(name + ENDINGS[encoding])).map(
      (encoding) =>
        [encoding, representation(readFileSync(join(folder, name + ENDINGS[encoding])), encoding)] as const,
    );
    files.set(name, { type, plain, encoded: Object.fromEntries(encoded) });
  }
  if (!files.has('index.html'))
    throw new Error(`There is no index.html in ${folder}: build the Console first.`);
  return files;
}

/** By content alone, so that all instances of a release say the same. */
function representation(bytes: Buffer, encoding?: Encoding): Representation {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, etag: `"${hash}"`, ...(encoding === undefined ? {} : { encoding }) };
}
