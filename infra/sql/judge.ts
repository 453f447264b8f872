import type ts from 'typescript';
import type { Describer } from '@customer-platform/local/platform/statement-descriptions.ts';
import type { Place } from './places.ts';
import { faultsOf, type Types } from './rows.ts';

/** A database with the schema of one module. */
export interface Schema {
  readonly module: string;
  readonly describer: Describer;
  readonly types: Types;
}

/** What is wrong with a statement of a place, in words; a library's must fit in one of the schemas. */
export async function faultsAt(
  place: Place,
  schemas: readonly Schema[],
  checker: ts.TypeChecker,
): Promise<string[]> {
  const own = schemas.filter(({ module }) => place.file.startsWith(`apps/${module}/`));
  const found: string[] = [];
  for (const statement of place.statements) {
    let faults: string[] = [];
    for (const schema of own.length > 0 ? own : schemas) {
      faults = await faultsIn(place, statement, schema, checker);
      if (faults.length === 0) break;
    }
    found.push(...faults.map((fault) => `${place.at}: ${fault}`));
  }
  return [...new Set(found)];
}

async function faultsIn(
  { parameters, row }: Place,
  statement: string,
  { describer, types }: Schema,
  checker: ts.TypeChecker,
): Promise<string[]> {
  try {
    const described = await describer.describe(statement);
    const counted = parameters === undefined || parameters === described.parameters;
    return [
      ...(counted ? [] : [`takes ${described.parameters} values, and is given ${parameters}`]),
      ...(row ? faultsOf(row, described.columns, { checker, types }) : []),
    ];
  } catch (error) {
    return [`${(error as Error).message}: ${statement.replaceAll(/\s+/g, ' ').slice(0, 200)}`];
  }
}
