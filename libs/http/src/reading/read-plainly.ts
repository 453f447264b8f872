import { getMetadataStorage, ValidationTypes } from 'class-validator';
import type { Dto } from '../endpoints/route-declaration.js';
import { readDto } from './read-dto.js';

type Test = (object: object, value: unknown) => unknown;

/** A field's tests; all hold of what is valid. */
interface FieldTests {
  readonly name: string;
  /** Where one of these does not hold, the field is not looked at. */
  readonly conditions: Test[];
  readonly tests: Test[];
  isNested: boolean;
}

/** Null of a class that asks for more than is tested here. */
const testsOfDto = new WeakMap<object, readonly FieldTests[] | null>();

/**
 * A body as an instance of its DTO class where nothing is wrong with it; undefined where something is, or may be: then
 * `inspect` says what. The tests are those of class-validator's decorators, collected once of each class and run without
 * what tells of failures, for callers that read bodies by the thousand.
 */
export function readPlainly<T extends object>(dto: new () => T, value: object): T | undefined {
  const { instance, errors } = readDto(dto, value);
  return errors.total === 0 && holds(instance) ? (instance as T) : undefined;
}

function holds(instance: object): boolean {
  const fields = testsOf(instance.constructor);
  if (!fields) return false;
  for (const { name, conditions, tests, isNested } of fields) {
    const value = (instance as Record<string, unknown>)[name];
    if (!conditions.every((applies) => applies(instance, value))) continue;
    // What answers by a promise is not waited for here.
    if (!tests.every((test) => test(instance, value) === true)) return false;
    if (isNested && value !== undefined && !holdsWithin(value)) return false;
  }
  return true;
}

/** Lists of lists are left to class-validator. */
function holdsWithin(value: unknown): boolean {
  return Array.isArray(value)
    ? value.every((item) => isOneObject(item) && holds(item))
    : isOneObject(value) && holds(value);
}

function isOneObject(value: unknown): value is object {
  return value instanceof Object && !Array.isArray(value) && !(value instanceof Set || value instanceof Map);
}

function testsOf(constructor: object): readonly FieldTests[] | null {
  const known = testsOfDto.get(constructor);
  if (known !== undefined) return known;
  const tests = gather(constructor as Dto);
  testsOfDto.set(constructor, tests);
  return tests;
}

function gather(dto: Dto): FieldTests[] | null {
  const storage = getMetadataStorage();
  const fields = new Map<string, FieldTests>();
  for (const metadata of storage.getTargetValidationMetadatas(dto, '', false, false)) {
    const { propertyName: name, type, constraints, constraintCls, each, validateIf } = metadata;
    if (validateIf) return null;
    const field = fields.get(name) ?? { name, conditions: [], tests: [], isNested: false };
    fields.set(name, field);
    if (type === ValidationTypes.CONDITIONAL_VALIDATION) field.conditions.push(constraints[0] as Test);
    else if (type === ValidationTypes.NESTED_VALIDATION) field.isNested = true;
    else if (type === ValidationTypes.CUSTOM_VALIDATION) {
      for (const { instance } of storage.getTargetValidatorConstraints(constraintCls)) {
        const about = { targetName: dto.name, property: name, constraints };
        const test: Test = (object, value) => instance.validate(value, { ...about, object, value });
        const ofEach: Test = (object, value) => {
          if (!Array.isArray(value)) return test(object, value);
          return value.every((item) => instance.validate(item, { ...about, object, value }) === true);
        };
        field.tests.push(each ? ofEach : test);
      }
    } else return null;
  }
  return [...fields.values()];
}
