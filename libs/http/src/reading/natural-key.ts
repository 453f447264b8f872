import { Problem, type FieldError } from '@customer-platform/problem-json';
import { validateBody } from './validate-dto.js';

/** The members of a natural key, all of them given. */
type NaturalKey<T, K extends keyof T> = { [P in K]-?: NonNullable<T[P]> };

/**
 * What names an item of a collection where the path does not: given in the query, or else in a JSON body.
 * @throws `validation_failed` naming what is missing
 */
export async function readNaturalKey<T extends object, K extends keyof T & string>(
  dto: new () => T,
  { query, body }: { query: T; body: unknown },
  names: readonly K[],
): Promise<NaturalKey<T, K>> {
  const given = body === undefined ? query : await validateBody(dto, body);
  const absent = names.filter((name) => given[name] === undefined || given[name] === null);
  if (absent.length === 0) return given as NaturalKey<T, K>;
  throw Problem.validation(
    absent.map((name): FieldError => ({
      ...(body === undefined ? { parameter: name } : { pointer: `/${name}` }),
      code: 'required',
      detail: `\`${name}\` is required.`,
    })),
  );
}
