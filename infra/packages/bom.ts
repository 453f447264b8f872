import { nameOf as lockedName, type Lock } from './lock.ts';

/** A license by its SPDX id or expression, or by a name of its own; a text found beside it is in base64. */
interface License {
  expression?: string;
  license?: { id?: string; name?: string; text?: { content: string; encoding?: string } };
}

/** A package, as far as it is looked at here. */
interface Component {
  type?: string;
  purl?: string;
  group?: string;
  name: string;
  version: string;
  licenses?: License[];
  evidence?: { licenses?: License[] };
  hashes?: { alg: string; content: string }[];
  properties?: { name: string; value: string }[];
}

/** A bill of materials as CycloneDX has it. */
export interface Bom {
  components: Component[];
}

const OWN = '@customer-platform';
const PATH = 'cdx:npm:package:path';

/** What Vite says of a package that is in the Console's files. */
export interface Bundled {
  name: string;
  version: string;
  /** Of SPDX. */
  identifier?: string | null;
  text?: string | null;
}

/** The packages that are in the Console's files, and in no `node_modules` of an image. */
export function bundledComponents(bundled: readonly Bundled[], lock: Lock): Component[] {
  return bundled.map(({ name, version, identifier, text }) => {
    const path = Object.keys(lock).find((at) => lockedName(at) === name && lock[at]?.version === version);
    const [last = '', group] = name.split('/').reverse();
    return {
      type: 'library',
      ...(group === undefined ? {} : { group }),
      name: last,
      version,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      licenses: identifier ? [{ license: { id: identifier } }] : [],
      evidence: {
        licenses: text ? [{ license: { text: { content: Buffer.from(text).toString('base64') } } }] : [],
      },
      properties: [{ name: PATH, value: path ?? '' }],
    };
  });
}

/**
 * A bill of what comes from elsewhere, each package with the digest that the lock file holds it against: without the
 * registry's address in that file the program that lists packages takes none.
 * @throws Error naming a package that is not locked
 */
export function withDigests(bom: Bom, lock: Lock): Bom {
  const components = bom.components
    .filter(({ group }) => group !== OWN)
    .map((component) => {
      const path = component.properties?.find(({ name }) => name === PATH)?.value ?? '';
      const { version, integrity = '', inBundle } = lock[path] ?? {};
      if (version !== component.version || (!integrity.startsWith('sha512-') && !inBundle))
        throw new Error(`${nameOf(component)} (${path}) is not what package-lock.json holds.`);
      if (inBundle) return component;
      const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
      return { ...component, hashes: [{ alg: 'SHA-512', content }] };
    });
  return { ...bom, components };
}

/** A page with each license text once, and below it the packages that come under it. */
export function noticesOf(bom: Bom): string {
  const packages = new Map<string, Set<string>>();
  for (const component of bom.components) {
    const texts = (component.evidence?.licenses ?? []).flatMap(({ license }) => license?.text ?? []);
    const text = texts.map(({ content }) => Buffer.from(content, 'base64').toString().trim()).join('\n\n');
    const names = packages.get(text) ?? new Set();
    packages.set(text, names.add(`${nameOf(component)} (${idsOf(component)})`));
  }
  const parts = [...packages]
    .map(([text, names]) => ({ text, names: [...names].sort() }))
    .sort((one, other) => (one.names.join() < other.names.join() ? -1 : 1))
    .map(({ text, names }) => {
      const list = names.map((name) => `- ${name}`).join('\n');
      return text === ''
        ? `${list}\n\nThese come without a text of their license.\n`
        : `${list}\n\n\`\`\`\`\`text\n${text}\n\`\`\`\`\`\n`;
    });
  return `# Third-party notices\n\nThe platform's images contain these packages.\n\n${parts.join('\n')}`;
}

function nameOf({ group, name, version }: Component): string {
  return `${group === undefined ? '' : `${group}/`}${name} ${version}`;
}

function idsOf({ licenses = [] }: Component): string {
  const ids = licenses.map(({ expression, license }) => expression ?? license?.id ?? license?.name ?? '');
  return ids.length > 0 ? ids.join(', ') : 'no license declared';
}
