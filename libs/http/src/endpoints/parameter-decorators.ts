import {
  createParamDecorator,
  type ArgumentMetadata,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import { ApiBody, ApiHeader, ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { Problem } from '@customer-platform/problem-json';
import { isStorableText } from '../json/inspect-json.js';
import { isUuid } from '../json/uuids.js';
import { originOf, type RequestContext, type RequestOrigin } from '../context/request-context.js';
import { stateOf, type Once } from '../context/request-state.js';
import { IDEMPOTENCY_KEY_SCHEMA, readIdempotencyKey } from '../idempotency/idempotency-key.js';
import { parseListRequest } from '../lists/parse-list-request.js';
import type { ListDefinition, ListQuery } from '../lists/list-definition.js';
import { queryParameters, refuseUnknown, refuseUnstorable } from '../reading/query-string.js';
import { takenBodies } from '../openapi/said-properties.js';
import { fieldsOf } from '../reading/dto-shape.js';
import { validateBody, validateQuery } from '../reading/validate-dto.js';
import { describeDtoQuery, describeList, type OpenParameters } from './describe-query.js';
import { methodOf, noteQueryUse, type Dto } from './route-declaration.js';

const requestOf = (context: ExecutionContext): Request => context.switchToHttp().getRequest<Request>();

/** The context of the caller; on routes that are authorized otherwise, use the route's own means. */
export const Context = createParamDecorator((_: unknown, execution: ExecutionContext): RequestContext => {
  const { context } = stateOf(requestOf(execution));
  if (context) return context;
  throw new Error('@Context() stands on a route without a permission or member token');
});

/** The context of the caller where the route may have none: a tenant token that stands in the body. */
export const OptionalContext = createParamDecorator(
  (_: unknown, execution: ExecutionContext): RequestContext | undefined =>
    stateOf(requestOf(execution)).context,
);

/** Holds what was found against the class that the parameter declares. */
class PrincipalPipe implements PipeTransform {
  transform(found: unknown, { metatype }: ArgumentMetadata): unknown {
    if (metatype && metatype !== Object && found instanceof metatype) return found;
    throw new Error(
      '@Authenticated() stands on a parameter of another class than the strategy of its route finds',
    );
  }
}

const authenticated = createParamDecorator(
  (_: unknown, execution: ExecutionContext): object | undefined => requestOf(execution).user,
);
const principalPipe = new PrincipalPipe();

/**
 * The finding of the route's strategy, an instance of the class that the parameter declares; on routes whose credential
 * is nobody's who has permissions.
 */
export function Authenticated(): ParameterDecorator {
  return authenticated(principalPipe);
}

/** The correlation id of the request, for routes that have no context. */
export const CorrelationId = createParamDecorator(
  (_: unknown, execution: ExecutionContext): string => stateOf(requestOf(execution)).correlationId,
);

/** From where the request came, for routes that have no context. */
export const Origin = createParamDecorator((_: unknown, execution: ExecutionContext): RequestOrigin =>
  originOf(requestOf(execution)),
);

const pathId = createParamDecorator((name: string, execution: ExecutionContext): string => {
  const text = requestOf(execution).params[name];
  if (typeof text === 'string' && isUuid(text)) return text.toLowerCase();
  const detail = `\`${name}\` in the path must be a UUID.`;
  throw Problem.validation([{ parameter: name, code: 'invalid_id', detail }]);
});

/** A UUID of the path, in lower case, else 400 `invalid_id`. */
export function Id(name = 'id'): ParameterDecorator {
  return pathId(name);
}

const pathText = createParamDecorator((name: string, execution: ExecutionContext): string => {
  const text = requestOf(execution).params[name];
  // What cannot be stored cannot be found either.
  if (typeof text !== 'string' || !isStorableText(text)) throw new Problem('not_found');
  return text;
});

/** A text of the path, decoded, such as a slug or a provider's name; `example` is what its description shows. */
export function PathText(name: string, example?: string): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined) return;
    pathText(name)(target, method, index);
    if (example === undefined) return;
    applyTo(target, method, ApiParam({ name, schema: { type: 'string', example } }));
  };
}

const listRequest = createParamDecorator(
  (definition: ListDefinition, execution: ExecutionContext): ListQuery =>
    readerOf(requestOf(execution))(definition),
);

/** The list request in the query, checked by its definition (the public contract, "Lists"). */
export function ListRequest(definition: ListDefinition): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined) return;
    listRequest(definition)(target, method, index);
    noteQueryUse(target, method, { kind: 'list' });
    applyTo(target, method, describeList(definition));
  };
}

/** Reads the list request in the query by a definition that is known only once something has been looked up. */
export type ListReader = (definition: ListDefinition) => ListQuery;

const listReader = createParamDecorator((_: unknown, execution: ExecutionContext): ListReader =>
  readerOf(requestOf(execution)),
);

/** Texts are sorted by the language of the caller's organization. */
function readerOf(request: Request): ListReader {
  const { context, cursors } = stateOf(request);
  const locale = context?.organization.settings.locale;
  return (definition) =>
    parseListRequest(definition, queryParameters(request), context?.organizationId ?? '', cursors, locale);
}

/**
 * A {@link ListReader}: for lists whose filters tenants define. Described are what all of them take, and the names of
 * what they take beside it.
 */
export function ListRequestOf(common: ListDefinition, open: OpenParameters): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined) return;
    listReader()(target, method, index);
    noteQueryUse(target, method, { kind: 'list' });
    applyTo(target, method, describeList(common, open));
  };
}

/** Validates by the type the parameter declares. */
class DtoPipe implements PipeTransform {
  constructor(private readonly validate: (dto: new () => object, value: never) => Promise<object>) {}

  transform(value: never, { metatype }: ArgumentMetadata): Promise<object> {
    if (!metatype || metatype === Object) throw new Error('The parameter must declare its DTO class as type');
    return this.validate(metatype as new () => object, value);
  }
}

const body = createParamDecorator(
  (_: unknown, execution: ExecutionContext) => stateOf(requestOf(execution)).body,
);
const bodyPipe = new DtoPipe(validateBody);

/** The body as an instance of the DTO class that the parameter declares, validated. */
export function Body(): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined) return;
    body(bodyPipe)(target, method, index);
    const type = declaredType(target, method, index);
    if (!type) return;
    takenBodies.add(type);
    applyTo(target, method, ApiBody({ type }));
  };
}

/** The parsed body as it is (after the checks of all JSON), where a DTO class cannot say what it may hold. */
export const AnyBody = createParamDecorator(
  (_: unknown, execution: ExecutionContext): unknown => stateOf(requestOf(execution)).body,
);

/** The bytes of the body, on routes with `body: 'raw'`. */
export const RawBody = createParamDecorator(
  (_: unknown, execution: ExecutionContext): Buffer =>
    stateOf(requestOf(execution)).rawBody ?? Buffer.alloc(0),
);

const query = createParamDecorator((_: unknown, execution: ExecutionContext) => requestOf(execution));
const queryPipe = new DtoPipe((dto, request: never) => {
  const values: Record<string, string | string[]> = {};
  const allowed = fieldsOf(dto);
  // To the address of a page for people others add what they like.
  const parameters = queryParameters(request, stateOf(request).route?.anyQuery ? allowed : undefined);
  refuseUnknown(
    parameters.map(({ name }) => name).filter((name) => !allowed.has(name)),
    [...allowed],
  );
  refuseUnstorable(parameters);
  for (const { name, value } of parameters) {
    const former = values[name];
    if (former === undefined) values[name] = value;
    else if (typeof former === 'string') values[name] = [former, value];
    else former.push(value); // a list made anew for each would grow with the square of a repeated name
  }
  return validateQuery(dto, values);
});

/**
 * The query as an instance of the DTO class that the parameter declares; values are texts (a repeated name gives a
 * list), so its fields use `@Transform` or `@Type` where they are something else.
 */
export function Query(): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined) return;
    query(queryPipe)(target, method, index);
    noteQueryUse(target, method, { kind: 'dto' });
    const type = declaredType(target, method, index);
    if (type) applyTo(target, method, describeDtoQuery(type));
  };
}

const idempotencyKey = createParamDecorator(
  (required: boolean, execution: ExecutionContext): string | undefined => {
    const key = readIdempotencyKey(requestOf(execution).headers['idempotency-key']);
    if (key !== undefined || !required) return key;
    const detail = 'The header `Idempotency-Key` is required.';
    throw Problem.validation([{ parameter: 'Idempotency-Key', code: 'idempotency_key_required', detail }]);
  },
);

/** The key of the header `Idempotency-Key`; where required, its absence is 400 `idempotency_key_required`. */
export function IdempotencyKey(options: { required: boolean } = { required: false }): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined) return;
    idempotencyKey(options.required)(target, method, index);
    if (options.required)
      applyTo(
        target,
        method,
        ApiHeader({ name: 'Idempotency-Key', required: true, schema: IDEMPOTENCY_KEY_SCHEMA }),
      );
  };
}

/**
 * What makes an operation happen once for its `Idempotency-Key`, on routes that read their body themselves
 * (`body: 'stream'`).
 */
export const OncePerKey = createParamDecorator((_: unknown, execution: ExecutionContext): Once => {
  const { once } = stateOf(requestOf(execution));
  if (once) return once;
  throw new Error('@OncePerKey() stands on a route whose body the platform reads, or that takes no key');
});

function declaredType(target: object, method: string | symbol, index: number): Dto | undefined {
  const types = Reflect.getMetadata('design:paramtypes', target, method) as Dto[] | undefined;
  return types?.[index];
}

function applyTo(target: object, method: string | symbol, decorator: MethodDecorator): void {
  decorator(target, method, { value: methodOf(target, method) });
}
