import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { stateOf, type RequestState } from '../context/request-state.js';
import { IdempotentOperations } from '../idempotency/idempotent-operations.js';
import { bodyKind, hasBody, parseForm, readBytes, readJson } from '../reading/read-body.js';
import { queryParameters, refuseUnknown } from '../reading/query-string.js';
import { queryUseOf, type RouteDeclaration } from './route-declaration.js';

/** Reads the request by its route's declaration, after every guard: query, then body, then an idempotent repeat. */
export class EndpointInterceptor implements NestInterceptor {
  constructor(private readonly operations: IdempotentOperations) {}

  async intercept(execution: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = execution.switchToHttp();
    const request = http.getRequest<Request>();
    const state = stateOf(request);
    const { route } = state;
    if (!route) throw new Error('The guard did not run before the interceptor');
    if (!route.anyQuery && !queryUseOf(execution.getHandler())) {
      refuseUnknown(
        queryParameters(request).map(({ name }) => name),
        [],
      );
    }
    await readBody(request, state, route);
    if (route.idempotency !== 'day') return next.handle();
    const response = http.getResponse<Response>();
    if (route.body === 'stream') {
      // Nothing of the body is known yet: the handler tells when it has read it.
      state.once = (body, run) => {
        state.body = body;
        return this.operations.once(request, response, route, run);
      };
      return next.handle();
    }
    const run = () => lastValueFrom(next.handle(), { defaultValue: undefined });
    return from(this.operations.once(request, response, route, run));
  }
}

async function readBody(request: Request, state: RequestState, route: RouteDeclaration): Promise<void> {
  const { body: form } = route;
  if (form === 'stream' || form === 'none') return;
  if (form === 'raw') {
    state.rawBody ??= await readBytes(request, route);
    return;
  }
  if (!hasBody(request)) return;
  const kind = bodyKind(request, form);
  const bytes = await readBytes(request, route);
  if (bytes.length === 0) return;
  state.body = kind === 'json' ? await readJson(bytes) : parseForm(bytes);
}
