import { readFileSync } from 'node:fs';

/** A route as the contract lists it (docs/spec/endpoints.csv). */
export interface ListedRoute {
  module: string;
  method: string;
  path: string;
  permission: string;
  auth: string;
  api_class: string;
  latency_class: string;
  order: string;
  success: string;
  origin: string;
  note: string;
}

/** The list of all routes of the contract, served yet or not. */
const ROUTES_FILE = new URL('../../docs/spec/endpoints.csv', import.meta.url);

/** The fields of one line of CSV (RFC 4180, without line breaks inside a field). */
export function fieldsOf(line: string): string[] {
  const outsideQuotes = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/;
  return line
    .split(outsideQuotes)
    .map((field) => (field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field));
}

/** The rows of a route table. Throws on a row that has not as many fields as the header. */
export function parseRoutes(text: string): ListedRoute[] {
  const [header = '', ...lines] = text.trim().split(/\r?\n/);
  const names = fieldsOf(header);
  return lines.map((line, at) => {
    const fields = fieldsOf(line);
    if (fields.length !== names.length)
      throw new Error(`Line ${at + 2} has ${fields.length} fields: ${line}`);
    return Object.fromEntries(
      names.map((name, column) => [name, fields[column] ?? '']),
    ) as unknown as ListedRoute;
  });
}

/** Reads the contract's routes. */
export function listedRoutes(): ListedRoute[] {
  return parseRoutes(readFileSync(ROUTES_FILE, 'utf8'));
}
