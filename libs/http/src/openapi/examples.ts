type Json = Record<string, unknown>;

/** Whether the example is sent to the platform, with what must be given, or answered by it, whole. */
export type Direction = 'request' | 'answer';

const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
  'date-time': '2026-11-21T09:30:00.000Z',
  date: '2026-11-21',
  email: 'ana@example.com',
  uri: 'https://example.com/',
  duration: 'P30D',
};

/** Makes the example of a body from its schema: what a field states itself, else a value of its type. */
export class Examples {
  constructor(
    private readonly schemas: Readonly<Record<string, unknown>>,
    private readonly direction: Direction,
  ) {}

  of(schema: unknown, name = '', seen: readonly string[] = []): unknown {
    if (typeof schema !== 'object' || schema === null) return {};
    const part = schema as Json;
    if ('example' in part) return part['example'];
    if (typeof part['$ref'] === 'string') return this.ofReference(part['$ref'], name, seen);
    if ('const' in part) return part['const'];
    if ('default' in part) return part['default'];
    if (Array.isArray(part['enum'])) return (part['enum'] as unknown[]).find((value) => value !== null);
    const choices = (part['oneOf'] ?? part['anyOf']) as Json[] | undefined;
    const chosen = choices?.find(({ type }) => type !== 'null');
    if (chosen) return this.of(chosen, name, seen);
    if (Array.isArray(part['allOf']))
      return Object.assign({}, ...part['allOf'].map((each) => this.of(each, name, seen))) as Json;
    return this.ofType(part, name, seen);
  }

  private ofReference(reference: string, name: string, seen: readonly string[]): unknown {
    // A schema that holds itself ends here.
    if (seen.includes(reference)) return undefined;
    const schema = this.schemas[reference.replace('#/components/schemas/', '')];
    return this.of(schema, name, [...seen, reference]);
  }

  private ofType(schema: Json, name: string, seen: readonly string[]): unknown {
    const types = [schema['type']].flat();
    if (types.includes('null') && this.direction === 'answer') return null;
    switch (types.find((type) => type !== 'null')) {
      case 'string':
        return text(schema, name);
      case 'integer':
      case 'number':
        return number(schema);
      case 'boolean':
        return false;
      case 'array':
        return this.list(schema, name, seen);
      default:
        return this.object(schema, seen);
    }
  }

  private list(schema: Json, name: string, seen: readonly string[]): unknown[] {
    const item = this.of(schema['items'], name, seen);
    if (item === undefined) return [];
    const length = Math.max(1, Number(schema['minItems'] ?? 1));
    return Array.from({ length }, (_, at) => (at === 0 ? item : another(item, at)));
  }

  private object(schema: Json, seen: readonly string[]): Json {
    const required = (schema['required'] ?? []) as string[];
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
    const hidden = this.direction === 'answer' ? 'writeOnly' : 'readOnly';
    const shown = properties.filter(
      ([name, property]) =>
        property[hidden] !== true &&
        (this.direction === 'answer' || required.includes(name) || 'example' in property),
    );
    const members = shown.map(([name, property]) => [name, this.of(property, name, seen)] as const);
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }
}

/** A list may want several items that differ. */
function another(item: unknown, at: number): unknown {
  if (typeof item === 'string') return `${item.slice(0, -1)}${at}`;
  return typeof item === 'number' ? item + at : item;
}

function text({ format, minLength = 0, maxLength = Infinity }: Json, name: string): string {
  const known = BY_FORMAT[String(format)];
  if (known !== undefined) return known;
  const words = name.replaceAll('_', ' ');
  const sentence = `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
  return sentence.padEnd(Number(minLength), '.').slice(0, Number(maxLength));
}

function number({ minimum = 1, maximum = Infinity }: Json): number {
  return Math.min(Math.max(1, Number(minimum)), Number(maximum));
}
