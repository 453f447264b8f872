import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { checkSchema } from './check-schema.js';
import type { EventSchema } from './event-schema.js';
import { FORMATS } from './formats.js';
import { linearPattern } from './linear-pattern.js';
import { violationsOf, type Violation } from './violations.js';

/** Of properties whose JSON is longer only the first violation is told: telling all could take milliseconds. */
const ALL_TOLD_LENGTH = 4 * 1024;

const NONE: readonly Violation[] = [];

/** A schema against which properties of events are held. */
export interface CompiledSchema {
  /** What the properties break; nothing where they hold the schema. */
  violations(properties: unknown): readonly Violation[];
}

const regExp = Object.assign((pattern: string) => linearPattern(pattern), { code: 'linearPattern' });

function validator(allErrors: boolean): Ajv2020 {
  return new Ajv2020({
    allErrors,
    strict: true,
    allowUnionTypes: true,
    ownProperties: true,
    // The schema was checked against less than the meta-schema allows.
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    unicodeRegExp: false,
    formats: Object.fromEntries(
      Object.entries(FORMATS).map(([name, validate]) => [name, { type: 'string', validate }]),
    ),
    code: { regExp },
  });
}

const quick = validator(false);
const thorough = validator(true);

/**
 * Compiles a schema, after it was checked.
 * @throws SchemaRefused
 */
export function compileSchema(schema: EventSchema): CompiledSchema {
  checkSchema(schema);
  const holds = compiledBy(quick, schema);
  let all: ValidateFunction | undefined;
  return {
    violations: (properties) => {
      if (holds(properties)) return NONE;
      if (JSON.stringify(properties).length > ALL_TOLD_LENGTH) return violationsOf(holds.errors);
      all ??= compiledBy(thorough, schema);
      all(properties);
      return violationsOf(all.errors);
    },
  };
}

function compiledBy(ajv: Ajv2020, { $schema: _dialect, ...schema }: EventSchema): ValidateFunction {
  const compiled = ajv.compile(schema);
  // What is kept is kept by who asked for it.
  ajv.removeSchema(schema);
  return compiled;
}
