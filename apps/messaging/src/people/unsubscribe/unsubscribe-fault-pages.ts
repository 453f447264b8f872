import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { answerError, correlationIdOf, log, RequestAborted, toProblem } from '@customer-platform/http';
import { PAGE_HEADERS, unsubscribeFaultPage } from './unsubscribe-page.js';

/** Says what is wrong with a link on a page of its own where a browser asks, and as a problem to all others. */
@Catch()
export class UnsubscribeFaultPages implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<IncomingMessage>();
    const response = http.getResponse<ServerResponse>();
    const asksForPage = /\btext\/html\b/i.test(request.headers.accept ?? '');
    if (!asksForPage || error instanceof RequestAborted || response.headersSent) {
      answerError(request, response, error, correlationIdOf(request));
      return;
    }
    const problem = toProblem(error);
    const isOurs = problem.status >= 500;
    if (isOurs) log.error({ err: problem.cause ?? problem, code: problem.code }, 'a page could not be shown');
    const page = unsubscribeFaultPage(
      isOurs || problem.status === 429 ? 'later' : 'link',
      request.headers['accept-language'],
    );
    for (const [name, value] of Object.entries({ ...problem.headers, ...PAGE_HEADERS }))
      response.setHeader(name, value);
    response.setHeader('X-Correlation-Id', correlationIdOf(request));
    response.setHeader('Content-Length', Buffer.byteLength(page));
    response.statusCode = problem.status;
    response.end(request.method === 'HEAD' ? undefined : page);
  }
}
