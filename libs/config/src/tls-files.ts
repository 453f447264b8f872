import { readFileSync } from 'node:fs';
import { ConfigError } from './read-config.js';

/** What PEM files hold, by the name that Node gives it. */
export type TlsContents = Partial<Record<'ca' | 'cert' | 'key', string>>;

/** What files there are, by the same names. */
export type TlsFiles = Partial<Record<keyof TlsContents, string | undefined>>;

const NAMES = ['ca', 'cert', 'key'] as const;

/** The files that are named, each by what it is. */
export function namedFiles(files: TlsFiles): [keyof TlsContents, string][] {
  return NAMES.flatMap((name) => (files[name] === undefined ? [] : [[name, files[name]]]));
}

/**
 * Reads the files that `<prefix>_CA_FILE`, `_CERT_FILE` and `_KEY_FILE` name.
 * @throws ConfigError of one sentence that names a variable
 */
export function readTlsFiles(prefix: string, files: TlsFiles): TlsContents {
  if ((files.cert === undefined) !== (files.key === undefined))
    throw new ConfigError(`${prefix}_CERT_FILE and ${prefix}_KEY_FILE need each other.`);
  return Object.fromEntries(
    namedFiles(files).map(([name, file]) => {
      try {
        return [name, readFileSync(file, 'utf8')];
      } catch (cause) {
        throw new ConfigError(`The file of ${prefix}_${name.toUpperCase()}_FILE cannot be read.`, { cause });
      }
    }),
  );
}
