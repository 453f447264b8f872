import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { stateOf } from '../context/request-state.js';
import { log } from '../observe/log.js';
import { answerError } from './answer-problem.js';

/** The last resort for everything that a guard, a pipe, an interceptor or a handler throws. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    if (host.getType() !== 'http') {
      log.error({ err: error }, 'an event handler failed');
      return;
    }
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    answerError(request, http.getResponse<Response>(), error, stateOf(request).correlationId);
  }
}
